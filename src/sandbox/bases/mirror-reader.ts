import { Readable } from 'node:stream';
import { execa } from 'execa';
import { PatchfleetError } from '../../domain/failure.ts';
import { isOwnCommit } from '../../domain/own-commit.ts';

/** Reads objects of a bare mirror with git's plumbing. Nothing here looks at a worktree. */

/** One entry of a commit's tree. Paths are bytes: git does not ask for UTF-8. */
export interface TreeEntry {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly oid: string;
  readonly path: Buffer;
}

/** Git without configuration, hooks, prompts or the worker's environment. Spread into execa's options. */
export const closedGit = {
  extendEnv: false,
  env: {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
  },
} as const;

/** Bytes the list of a tree may have: some 2 million files. */
const listingBytes = 256 * 1024 * 1024;

/** Runs git on a repository and gives its standard output. Fails with `git_failed`. */
export async function git(
  gitDir: string,
  args: readonly string[],
  signal: AbortSignal,
  input: string | Uint8Array | null = null,
  env: Record<string, string> = {},
): Promise<Buffer> {
  try {
    const result = await execa('git', [`--git-dir=${gitDir}`, ...args], {
      ...closedGit,
      env: { ...closedGit.env, ...env },
      cancelSignal: signal,
      encoding: 'buffer',
      maxBuffer: listingBytes,
      stripFinalNewline: false,
      ...(input === null ? { stdin: 'ignore' } : { input }),
    });
    return Buffer.from(result.stdout);
  } catch (thrown) {
    signal.throwIfAborted();
    throw gitFailed(args[0] ?? '', thrown);
  }
}

function gitFailed(command: string, thrown: unknown): PatchfleetError {
  const stderr =
    thrown instanceof Error && 'stderr' in thrown && thrown.stderr instanceof Uint8Array
      ? Buffer.from(thrown.stderr).toString('utf8').trim()
      : String(thrown);
  return new PatchfleetError('git_failed', `git ${command}: ${stderr.slice(0, 1000)}`, { cause: thrown });
}

/** All files of a commit. Fails with `commit_missing` when the mirror does not have it. */
export async function listTree(mirrorDir: string, commit: string, signal: AbortSignal): Promise<TreeEntry[]> {
  const known = await git(mirrorDir, ['cat-file', '--batch-check'], signal, `${commit}^{commit}\n`);
  if (!known.toString('utf8').includes(' commit ')) {
    throw new PatchfleetError('commit_missing', `${commit} is not in the mirror`);
  }
  const listing = await git(mirrorDir, ['ls-tree', '-r', '-z', '--full-tree', commit], signal);
  const entries: TreeEntry[] = [];
  for (let at = 0; at < listing.length; ) {
    const end = listing.indexOf(0, at);
    const tab = listing.indexOf(0x09, at);
    const [mode, , oid] = listing.toString('latin1', at, tab).split(' ');
    if (mode === undefined || oid === undefined)
      throw new PatchfleetError('git_failed', 'unreadable tree listing');
    entries.push({ mode: knownMode(mode), oid, path: Buffer.from(listing.subarray(tab + 1, end)) });
    at = end + 1;
  }
  return entries;
}

/** Old repositories hold modes such as 100664; git itself looks at the owner's execute bit alone. */
function knownMode(mode: string): TreeEntry['mode'] {
  if (mode === '120000' || mode === '160000') return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}

/**
 * Reads blobs one after the other and gives each to `take`, in parts as they come, and how many bytes it has; `take`
 * must use up the parts before it resolves. Memory does not grow with the size of a blob.
 */
export async function readBlobs(
  mirrorDir: string,
  oids: readonly string[],
  signal: AbortSignal,
  take: (index: number, parts: AsyncIterable<Buffer>, bytes: number) => Promise<void>,
): Promise<void> {
  if (oids.length === 0) return;
  const done = new AbortController();
  const child = execa('git', [`--git-dir=${mirrorDir}`, 'cat-file', '--batch', '--buffer'], {
    ...closedGit,
    input: Readable.from(oids.map((oid) => `${oid}\n`)),
    stdout: 'pipe',
    buffer: { stdout: false },
    encoding: 'buffer',
    cancelSignal: AbortSignal.any([signal, done.signal]),
  });
  // Awaited below; this only keeps a failure that comes first from going unhandled.
  child.catch(() => {});
  try {
    const bytes = createByteReader(child.stdout);
    for (let index = 0; index < oids.length; index += 1) {
      const header = await bytes.line();
      const [oid, type, size] = header.split(' ');
      if (oid !== oids[index] || type !== 'blob')
        throw new Error(`unexpected answer: ${header.slice(0, 200)}`);
      await take(index, bytes.bytes(Number(size)), Number(size));
      await bytes.line();
    }
    await child;
  } catch (thrown) {
    done.abort();
    signal.throwIfAborted();
    throw thrown instanceof PatchfleetError ? thrown : gitFailed('cat-file', thrown);
  }
}

/** Lines and counted bytes from a stream, by turns. */
function createByteReader(source: AsyncIterable<unknown>) {
  const iterator = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function more(): Promise<void> {
    const next = await iterator.next();
    if (next.done) throw new Error('git ended before it answered');
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
  }

  return {
    async line(): Promise<string> {
      let at = held.indexOf(0x0a);
      while (at === -1) {
        if (held.length > 4096) throw new Error('a header line is too long');
        await more();
        at = held.indexOf(0x0a);
      }
      const line = held.toString('latin1', 0, at);
      held = held.subarray(at + 1);
      return line;
    },
    async *bytes(count: number): AsyncGenerator<Buffer> {
      for (let left = count; left > 0; ) {
        if (held.length === 0) await more();
        const part = held.subarray(0, left);
        held = held.subarray(part.length);
        left -= part.length;
        yield part;
      }
    },
  };
}

/** Whether a commit was made by github/mirror-writer.ts from what agents wrote, and not by whoever pushes to GitHub. */
export async function isMadeHere(mirrorDir: string, commit: string, signal: AbortSignal): Promise<boolean> {
  const object = await git(mirrorDir, ['cat-file', 'commit', commit], signal);
  return isOwnCommit(object.toString('latin1'));
}
