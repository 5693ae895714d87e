import { readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../remove-tree.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { type FileSystemRoom, runsLow } from '../workspaces/disk-bounds.ts';
import { diskUse } from '../workspaces/disk-use.ts';
import { roomOf } from '../workspaces/disk-watch.ts';
import { layersInUse } from '../workspaces/overlay-workspaces.ts';
import { asideOf, inUseMs, isPutAside, readKept, removeAbandoned, treeOf } from './kept-directory.ts';

const never = new AbortController().signal;

interface Found {
  readonly place: string;
  readonly usedAt: number;
  /** Null: nobody can read what it is, and whoever wants it makes it anew. */
  readonly bytes: number | null;
}

/**
 * Removes snapshots and prepared layers, the least recently used first, until what is left takes no more than `bytes` and
 * the file system has room for work to begin, or all of it is in use. Several processes may do so at once. What cannot
 * be removed is logged; the function that is returned never rejects, and where it is called while it runs it runs once
 * more.
 *
 * What was put aside counts, since it stays for a day. What is on its way in or out does not: the one counts once it is
 * made, when this is called anew, and until then the file system bounds it (make-kept.ts); the other is as good as gone,
 * and would have a second process remove as much again.
 */
export function createRoomMaker(options: {
  /** Directories of `<repository id>/<name>`, as kept-directory.ts describes. */
  readonly dirs: readonly string[];
  readonly bytes: number;
  /** What overlays below it stand on stays, whatever the clock says of its use: a machine may have slept. */
  readonly workspacesDir: string;
  readonly log: SandboxLog;
  /** On the file system of a directory; by default as it is. */
  readonly room?: (directory: string) => Promise<FileSystemRoom>;
}): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;

  async function run(): Promise<void> {
    do {
      again = false;
      await makeRoom(options).catch((thrown: unknown) => {
        options.log.warn({ err: thrown }, 'no room could be made for snapshots and prepared dependencies');
      });
    } while (again);
    running = null;
  }
  return () => {
    if (running === null) running = run();
    else again = true;
    return running;
  };
}

async function makeRoom(options: Parameters<typeof createRoomMaker>[0]): Promise<void> {
  const { bytes: most, log, room = roomOf } = options;
  const onProblem = (directory: string, thrown: unknown) =>
    log.warn({ err: thrown, directory }, 'what is not used any more cannot be removed');
  const found: Found[] = [];
  let aside = 0;
  for (const dir of options.dirs) {
    for (const repository of await namesIn(dir)) {
      const home = join(dir, repository);
      const names = await namesIn(home);
      if (names.length > 0) await removeAbandoned(home, onProblem);
      for (const name of names.filter(isPutAside)) aside += (await diskUse(join(home, name), never)).bytes;
      for (const name of names.filter((one) => !one.startsWith('.'))) {
        found.push(...(await lookAt(join(home, name))));
      }
    }
  }
  const isLow = async (place: string) => runsLow(await room(dirname(place)));
  const needed = await layersInUse(options.workspacesDir);
  let total = found.reduce((sum, { bytes }) => sum + (bytes ?? 0), aside);
  for (const one of found.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (one.usedAt > Date.now() - inUseMs) return;
    if (needed.has(treeOf(one.place))) continue;
    if (one.bytes !== null && total <= most && !(await isLow(one.place))) continue;
    try {
      if (await removeUnused(one)) total -= one.bytes ?? 0;
    } catch (thrown) {
      onProblem(one.place, thrown);
    }
  }
}

/** True: it is gone, by this or by another process. False: it was used meanwhile. */
async function removeUnused({ place, usedAt }: Found): Promise<boolean> {
  const aside = asideOf(place);
  const now = await usedAtOf(place);
  if (now !== usedAt) return now === null;
  if (!(await isRenamed(place, aside))) return (await usedAtOf(place)) === null;
  // Between the look and the renaming somebody may have been given it.
  if ((await usedAtOf(aside)) !== usedAt && (await isRenamed(aside, place))) return false;
  await removeTree(aside);
  return true;
}

async function isRenamed(from: string, to: string): Promise<boolean> {
  return await rename(from, to).then(
    () => true,
    () => false,
  );
}

async function lookAt(place: string): Promise<Found[]> {
  const usedAt = await usedAtOf(place);
  if (usedAt === null) return [];
  return [{ place, usedAt, bytes: (await readKept(place))?.bytes ?? null }];
}

/** Of one that is of an older layout: when it was made. Null: gone. */
async function usedAtOf(place: string): Promise<number | null> {
  for (const path of [join(place, 'used'), place]) {
    const mtime = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (mtime !== null) return mtime;
  }
  return null;
}

async function namesIn(dir: string): Promise<string[]> {
  return await readdir(dir).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR') return [];
    throw thrown;
  });
}
