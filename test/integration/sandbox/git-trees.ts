import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Bare repositories made with plumbing alone, so that any tree can be had, also one that no checkout gives. */

export interface FileMade {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly path: Buffer;
  readonly content: Buffer;
}

const environment = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

export function git(dir: string, args: string[], input?: Uint8Array): Buffer {
  return execFileSync('git', ['-C', dir, ...args], {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
    ...(input === undefined ? {} : { input }),
  });
}

export function bareRepository(parent: string, name: string): string {
  const dir = join(parent, name);
  mkdirSync(dir, { recursive: true });
  git(dir, ['init', '-q', '--bare', '.']);
  return dir;
}

const line = (output: Buffer) => output.toString('utf8').trim();

/** Writes a blob and gives its id. */
export const blob = (dir: string, content: Uint8Array) =>
  line(git(dir, ['hash-object', '-w', '--stdin'], content));

/** Makes a commit of the files given; submodules name themselves as their commit. */
export function commitOf(dir: string, files: readonly FileMade[]): string {
  const index = { GIT_INDEX_FILE: join(dir, `index-${files.length}-${Math.random()}`) };
  const lines = files.map(({ mode, path, content }) => {
    const oid = mode === '160000' ? '1'.repeat(40) : blob(dir, content);
    return Buffer.concat([Buffer.from(`${mode} ${oid}\t`), path, Buffer.from([0])]);
  });
  const options = { env: { ...environment, ...index } };
  execFileSync('git', ['-C', dir, 'update-index', '-z', '--index-info'], {
    ...options,
    input: Buffer.concat(lines),
  });
  const tree = line(execFileSync('git', ['-C', dir, 'write-tree'], options));
  return commitTree(dir, tree);
}

export const commitTree = (dir: string, tree: string) => line(git(dir, ['commit-tree', tree, '-m', 'made']));

/** Writes a tree object byte by byte: git's own commands refuse the names that matter here. */
export function rawTree(
  dir: string,
  entries: readonly { mode: string; name: string; oid: string }[],
): string {
  const bytes = entries.map(({ mode, name, oid }) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  );
  return line(git(dir, ['hash-object', '-t', 'tree', '--literally', '-w', '--stdin'], Buffer.concat(bytes)));
}
