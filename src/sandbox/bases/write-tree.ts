import { constants } from 'node:fs';
import { mkdir, open, symlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { readBlobs, type TreeEntry } from './mirror-reader.ts';
import { pathProblem, symlinkProblem } from './tree-paths.ts';

/** Bytes a symlink's target may have, as Linux has it. */
const targetBytes = 4095;

/** An entry of the commit that is not in the snapshot, and why. */
export interface SkippedEntry {
  readonly path: string;
  readonly reason: string;
}

export interface WrittenTree {
  readonly written: TreeEntry[];
  readonly skipped: SkippedEntry[];
}

/**
 * Writes entries of a tree below `root` (an empty directory): blobs raw, files 0644 or 0755, symlinks as such
 * and last, so that none is ever written through; a submodule is an empty directory. `onWritten` is told of each before
 * the next, with its bytes.
 */
export async function writeTree(
  root: string,
  mirrorDir: string,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
  onWritten: (bytes: number) => Promise<void> = async () => {},
): Promise<WrittenTree> {
  const written: TreeEntry[] = [];
  const skipped: SkippedEntry[] = [];
  const skip = (entry: TreeEntry, reason: string) => {
    skipped.push({ path: entry.path.toString('utf8'), reason });
  };
  const absolute = (path: Buffer) => Buffer.concat([Buffer.from(`${root}/`), path]);

  const usable = entries.filter((entry) => {
    const problem = pathProblem(entry.path);
    if (problem !== null) skip(entry, problem);
    return problem === null;
  });
  // All directories before any file or symlink: what is written later meets directories or fails.
  const parents = new Set(usable.map(({ path }) => posix.dirname(path.toString('latin1'))));
  for (const parent of parents) {
    await mkdir(absolute(Buffer.from(parent, 'latin1')), { recursive: true, mode: 0o755 });
    await onWritten(0);
  }
  /** Does what writes an entry. A tree may name a path twice, or one as file and directory: the first stands. */
  const attempt = async (entry: TreeEntry, write: () => Promise<void>): Promise<void> => {
    try {
      await write();
      written.push(entry);
    } catch (thrown) {
      const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
      if (code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'EISDIR') throw thrown;
      skip(entry, 'clashes with another path of the tree');
    }
  };

  for (const entry of usable.filter(({ mode }) => mode === '160000')) {
    await attempt(entry, () => mkdir(absolute(entry.path), { mode: 0o755 }));
    await onWritten(0);
  }
  const files = usable.filter(({ mode }) => mode === '100644' || mode === '100755');
  await readBlobs(
    mirrorDir,
    files.map(({ oid }) => oid),
    signal,
    async (index, parts, bytes) => {
      const entry = files[index];
      if (entry === undefined) return;
      await attempt(entry, () =>
        writeFile(absolute(entry.path), entry.mode === '100755' ? 0o755 : 0o644, parts),
      );
      for await (const _ of parts);
      await onWritten(bytes);
    },
  );
  const links = usable.filter(({ mode }) => mode === '120000');
  await readBlobs(
    mirrorDir,
    links.map(({ oid }) => oid),
    signal,
    async (index, parts) => {
      const entry = links[index];
      if (entry === undefined) return;
      const target = await targetOf(parts);
      const problem =
        target === null ? 'is a symlink with too long a target' : symlinkProblem(entry.path, target);
      if (target === null || problem !== null) skip(entry, problem ?? '');
      else await attempt(entry, () => symlink(target, absolute(entry.path)));
      await onWritten(0);
    },
  );
  return { written, skipped };
}

async function writeFile(path: Buffer, mode: number, parts: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    for await (const part of parts) await file.writeFile(part);
    // After the fact, for the umask has no say in it.
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

async function targetOf(parts: AsyncIterable<Buffer>): Promise<Buffer | null> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes <= targetBytes) kept.push(part);
  }
  return bytes > targetBytes ? null : Buffer.concat(kept);
}
