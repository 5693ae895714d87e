import { execFile, execFileSync, type StdioOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inherited } from '../../support/app/start-app.ts';
import { createSetting, docker, never, type Setting } from './docker-setting.ts';

const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest';
/** An image of another's making: `FROM` ours, without some of what a sandbox needs. */
const broken = `patchfleet-test-image:${randomBytes(6).toString('hex')}`;
/** With a layer of this run alone first: what another run builds, and takes away, is no part of it. */
const from = `FROM ${image}\nLABEL run=${broken}`;
const stdio: StdioOptions = ['pipe', 'ignore', 'ignore'];

let setting: Setting;
beforeAll(() => {
  setting = createSetting({ memory_mib: 1024, scratch_mib: 256, cpus: 2 });
});
afterAll(async () => {
  await setting.end();
  execFileSync('docker', ['rmi', '--force', broken], { stdio: 'ignore' });
});

/** `patchfleet doctor --image NAME`, where there is nothing but an engine: no App, no database, no agent. */
function doctor(name: string): Promise<{ code: number | null; lines: string[] }> {
  const env = {
    ...Object.fromEntries(inherited.map((variable) => [variable, process.env[variable]])),
    PATCHFLEET_CONFIG: join(setting.home, 'patchfleet.yml'),
    PATCHFLEET_DATA: join(setting.home, 'data'),
  };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['src/main.ts', 'doctor', '--image', name],
      { env },
      (_error, stdout) => resolve({ code: child.exitCode, lines: stdout.trim().split('\n') }),
    );
  });
}

it('holds all that is needed and recommended, says the doctor', async () => {
  expect(await doctor(image)).toEqual({
    code: 0,
    lines: [expect.stringMatching(/^\S+ has \d+ MiB\.$/), 'all well'],
  });
});

it('brings these programs, whichever way it was built', async () => {
  const sandbox = await setting.acquire({
    'go.mod': 'module example\n\ngo 1.19\n',
    'main.go': 'package main\n\nfunc main() { println(3) }\n',
    'cpp/main.cpp': '#include <iostream>\nint main() { std::cout << __cplusplus / 100000; }\n',
    'test_one.py': 'def test_one():\n    assert 1 + 1 == 2\n',
  });
  const run = async (...argv: string[]) => {
    const result = await sandbox.run(argv, { signal: never, wallMs: 60_000 });
    return result.spawnError ?? (result.stdout + result.stderr).trim();
  };
  const seen = {
    node: await run('node', '--version'),
    npm: await run('npm', '--version'),
    python: await run('python', '--version'),
    git: await run('git', '--version'),
    go: await run('go', 'run', '.'),
    cpp: await run('sh', '-c', 'g++ -o /scratch/tmp/main cpp/main.cpp && /scratch/tmp/main'),
    pytest: await run('python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'),
    user: await run('id', '-u'),
  };
  expect(seen).toEqual({
    node: process.version,
    npm: expect.stringMatching(/^11\./),
    python: expect.stringMatching(/^Python 3\.1[1-9]\./),
    git: expect.stringMatching(/^git version 2\.(39|[4-9]\d)\./),
    go: '3',
    cpp: '2',
    pytest: expect.stringContaining('1 passed'),
    user: String(process.getuid?.() || 10_001),
  });
});

it('is taken apart by the doctor where something is missing', async () => {
  const input = [
    from,
    'USER root',
    'RUN rm /usr/bin/rg /usr/bin/unzip && chmod u+s /usr/bin/gzip && git config --system --unset core.hooksPath',
    'VOLUME /data',
    'USER 10001:10001',
  ].join('\n');
  execFileSync('docker', ['build', '--quiet', '--network=none', '--tag', broken, '-'], { input, stdio });
  expect(await doctor(broken)).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^\S+ has \d+ MiB\.$/),
      `Recommended: ${broken} lacks \`unzip\`, which many repositories need. Install \`unzip\` in the image.`,
      `${broken} lacks \`rg\` (ripgrep) (spawn rg ENOENT). Install \`ripgrep\` in the image.`,
      `${broken} lacks a Git that runs no hooks. Build it with \`git config --system core.hooksPath /dev/null\`.`,
      expect.stringMatching(/ has set-user-id or set-group-id files, such as \/usr\/bin\/gzip\./),
      expect.stringMatching(/ declares volumes \(\/data\)/),
    ],
  });
});

it('may be any with what the recipe of the manual adds', async () => {
  const manual = readFileSync('docs/operations.md', 'utf8');
  const recipe = /```dockerfile\n(FROM rust:[^`]*)```/.exec(manual)?.[1] ?? '';
  const tag = `${broken}-recipe`;
  const input = recipe
    .replace(
      /^FROM .*$/m,
      `${from}\nUSER root\nRUN rm -rf /opt/patchfleet /etc/gitconfig /workspace\nENTRYPOINT []`,
    )
    // There is no network here; what it installs is there.
    .replace(/^RUN apt-get .*$/m, '')
    .replace('patchfleet-sandbox:latest', image);
  execFileSync('docker', ['build', '--quiet', '--network=none', '--tag', tag, '-'], { input, stdio });
  try {
    expect(await setting.sandboxes.check([tag])).toEqual({ problems: [], notes: [expect.any(String)] });
  } finally {
    docker('rmi', '--force', tag);
  }
});

it('is no sandbox, says the doctor, where it starts another program than our tool server', async () => {
  const tag = `${broken}-other`;
  const input = `${from}\nENTRYPOINT ["sh", "-c", "echo hello"]\n`;
  execFileSync('docker', ['build', '--quiet', '--network=none', '--tag', tag, '-'], { input, stdio });
  try {
    expect(await setting.sandboxes.check([tag])).toEqual({
      problems: [expect.stringContaining(`A trial sandbox of ${tag} does not work: `)],
      notes: [],
    });
  } finally {
    docker('rmi', '--force', tag);
  }
});
