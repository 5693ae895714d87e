import { spawn } from 'node:child_process';

/** Nothing of the machine's or the user's git configuration may change what the double does. */
export const gitEnvironment: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs git in a bare repository; never rejects for an exit code. */
export function tryGit(
  dir: string,
  args: readonly string[],
  input?: Buffer,
  env: Readonly<Record<string, string>> = {},
): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['--literal-pathspecs', `--git-dir=${dir}`, ...args], {
      env: { ...gitEnvironment, ...env },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    // The exit code tells of a program that left before it read everything.
    child.stdin.on('error', () => {});
    child.on('close', (code) =>
      resolve({
        code: code ?? -1,
        stdout: Buffer.concat(out),
        stderr: Buffer.concat(err).toString('utf8'),
      }),
    );
    child.stdin.end(input);
  });
}

/** Runs git and returns what it printed; throws with its complaint when it failed. */
export async function git(
  dir: string,
  args: readonly string[],
  input?: Buffer,
  env?: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const { code, stdout, stderr } = await tryGit(dir, args, input, env);
  if (code !== 0) throw new Error(`git ${args.join(' ')} exited ${code}: ${stderr.trim()}`);
  return stdout;
}

export async function gitText(dir: string, args: readonly string[]): Promise<string> {
  return (await git(dir, args)).toString('utf8').trim();
}

/** The full id of the commit a ref, branch name or id stands for; null where there is none. */
export async function resolveCommit(dir: string, name: string): Promise<string | null> {
  if (name === '' || name.startsWith('-')) return null;
  const candidates = /^[0-9a-f]{40}$/.test(name) ? [name] : [`refs/heads/${name}`, `refs/tags/${name}`, name];
  for (const candidate of candidates) {
    const { code, stdout } = await tryGit(dir, ['rev-parse', '--verify', '-q', `${candidate}^{commit}`]);
    if (code === 0) return stdout.toString('utf8').trim();
  }
  return null;
}

export async function mergeBase(dir: string, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await tryGit(dir, ['merge-base', a, b]);
  return code === 0 ? stdout.toString('utf8').trim() : null;
}
