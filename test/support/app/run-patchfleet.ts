import { join } from 'node:path';
import { execa } from 'execa';
import { inherited, main, root } from './start-app.ts';

/** One command of the real command line, to its end, with the operator file of that directory. Never rejects for a code. */
export async function runPatchfleet(
  args: readonly string[],
  dataDir: string,
  env: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [main, ...args], {
    cwd: root,
    reject: false,
    extendEnv: false,
    env: {
      ...Object.fromEntries(inherited.flatMap((name) => [[name, process.env[name]]])),
      PATCHFLEET_CONFIG: join(dataDir, 'patchfleet.yml'),
      PATCHFLEET_DATA: dataDir,
      ...env,
    },
  });
  return { exitCode, stdout, stderr };
}
