import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchRepository, StoredPatch } from './repository.ts';

/**
 * All patches by a checkout of the target: one work tree for all, which is the cheapest way to have one, `git apply
 * --index` and `git commit` for each. The tree that it gives, and milliseconds.
 */
export async function applyInWorktree(
  { origin, home, head }: BenchRepository,
  patches: readonly StoredPatch[],
  signal: AbortSignal,
): Promise<{ tree: string; ms: number }> {
  const work = join(home, 'worktree');
  const begin = performance.now();
  await git(origin, ['worktree', 'add', '--quiet', '--detach', work, head], signal);
  for (const { text } of patches) await applyAndCommit(work, text, signal);
  const ms = performance.now() - begin;
  const tree = (await git(work, ['rev-parse', 'HEAD^{tree}'], signal)).trim();
  await git(origin, ['worktree', 'remove', '--force', work], signal);
  return { tree, ms };
}

async function applyAndCommit(work: string, text: Buffer, signal: AbortSignal): Promise<void> {
  await git(work, ['apply', '--index', '-'], signal, text);
  await git(work, ['commit', '--quiet', '--no-verify', '--message', 'patch'], signal);
}

const env = {
  PATH: process.env['PATH'] ?? '',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...{ GIT_AUTHOR_NAME: 'T', GIT_AUTHOR_EMAIL: 't@example.invalid' },
  ...{ GIT_COMMITTER_NAME: 'T', GIT_COMMITTER_EMAIL: 't@example.invalid' },
};

async function git(
  cwd: string,
  args: readonly string[],
  signal: AbortSignal,
  input?: Buffer,
): Promise<string> {
  const child = spawn('git', ['-c', 'gc.auto=0', ...args], {
    cwd,
    env,
    signal,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`git ${args[0] ?? ''} ended with ${String(code)}`);
  return Buffer.concat(parts).toString('utf8');
}
