import { randomBytes } from 'node:crypto';
import { access, readdir, readFile, rename, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { hostCommand } from '../host-command.ts';
import { removeTree } from '../remove-tree.ts';
import { createSharedWork } from '../shared-work.ts';

/**
 * Directories that are made once and shared by many workspaces, as the layers below them:
 *
 *     <home>/<name>/tree        what is shared
 *     <home>/<name>/kept.json   what it was when it was made
 *     <home>/<name>/used        its time is when it was used last
 *
 * Made in a directory beside it and renamed into place when whole and on the disk (make-kept.ts).
 */

const keptSchema = z.object({
  /** Of the layout of `tree`; another is made anew. */
  format: z.literal(2),
  digest: z.string(),
  /** On the disk. */
  bytes: z.number(),
});
export type Kept = z.infer<typeof keptSchema>;

/** How often who uses such a directory, or makes one, says so, ms. */
export const noteEveryMs = 60_000;
/**
 * What was used within this time is in use, ms: workspaces say every minute what they stand on (hold-bases.ts), and
 * whoever has just been given a directory has this long to make a workspace of it. What is on its way and was not
 * touched for as long belongs to a worker that died.
 */
export const inUseMs = 10 * 60 * 1000;
/** How long one that is not as it was made is kept for those who still read it, ms. */
const asideMs = 24 * 60 * 60 * 1000;

/** What begins the names of directories that are not whole or on their way out, and of those that were put aside. */
const onTheWay = '.tmp-';
const putAway = '.old-';

export const treeOf = (place: string) => join(place, 'tree');

/**
 * Gives the tree of a directory, and says that it is used. `settle` puts it in place, where this process has not seen to
 * it yet or it is gone: once for all who ask at the same time and give the same `means`, what it may fail for want of.
 */
export type Keeper = (
  place: string,
  signal: AbortSignal,
  settle: (signal: AbortSignal) => Promise<void>,
  means?: string,
) => Promise<string>;

export function createKeeper(): Keeper {
  const once = createSharedWork<void>();
  const settled = new Set<string>();
  return async (place, signal, settle, means = '') => {
    for (;;) {
      // First of all: looking at it may take long, and whoever makes room leaves alone what is used.
      await noteUse(place);
      if (!settled.has(place) || !(await exists(treeOf(place)))) {
        await once(`${place} ${means}`, signal, settle);
        settled.add(place);
      }
      // Whoever makes room may have taken it a moment ago.
      if ((await noteUse(place)) || (await exists(treeOf(place)))) return treeOf(place);
      signal.throwIfAborted();
    }
  };
}

/** A name beside `place` for what is not in place. */
export function asideOf(place: string, prefix = onTheWay): string {
  return join(dirname(place), `${prefix}${basename(place).slice(-12)}-${randomBytes(6).toString('hex')}`);
}

/**
 * SHA-256 over everything below a directory: path, type, owner, permissions, size, times of its last change, target of
 * a link. Contents are not read: whoever writes to a file leaves a time of change (`ctime`) that cannot be set, and
 * what was cut short by a crash has another size. So it costs one `lstat` per entry. Bits that rot below the
 * file system are not seen.
 */
export async function digestOf(directory: string, signal: AbortSignal): Promise<string> {
  const options = { ...hostCommand, cwd: directory, cancelSignal: signal } as const;
  // What goes on to the next program is kept by none of ours, however much it is.
  const passing = { ...options, buffer: false } as const;
  const { stdout } = await execa('find', ['.', '-printf', '%P\\t%y %U:%G %m %s %T@ %C@ %l\\0'], passing)
    .pipe('sort', ['--zero-terminated'], passing)
    .pipe('sha256sum', [], options);
  const [digest = ''] = stdout.split(' ');
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error(`sha256sum answered: ${stdout.slice(0, 200)}`);
  return digest;
}

/** What was noted of a directory in place; null: nothing that can be read. */
export async function readKept(place: string): Promise<Kept | null> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(join(place, 'kept.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** Whether a directory is in place as it was made. */
export async function isAsMade(place: string, signal: AbortSignal): Promise<boolean> {
  const kept = await readKept(place);
  if (kept === null) return false;
  try {
    return (await digestOf(treeOf(place), signal)) === kept.digest;
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(await exists(treeOf(place)))) return false;
    throw thrown;
  }
}

/** The same; where it is there and is another it is put aside, after `onOther`, and can be made anew. */
export async function standsAsMade(
  place: string,
  signal: AbortSignal,
  onOther: () => void,
): Promise<boolean> {
  if (await isAsMade(place, signal)) return true;
  if (await exists(place)) {
    onOther();
    await putAside(place, signal);
  }
  return false;
}

/**
 * Takes a directory that is not as it was made out of its place. Those who still read it keep it for a day. The place is
 * free then, or has another; it does not mind when another process was faster.
 */
export async function putAside(place: string, signal: AbortSignal): Promise<void> {
  const aside = asideOf(place, putAway);
  try {
    await rename(place, aside);
  } catch (thrown) {
    if (isGone(thrown)) return;
    throw thrown;
  }
  // Another process may have put a good one there since it was looked at.
  if (await isAsMade(aside, signal)) await rename(aside, place).catch(() => {});
}

/** Whether that is the name of one that was put aside. */
export const isPutAside = (name: string): boolean => name.startsWith(putAway);

/** Says that it is used now. False: it is gone. */
export async function noteUse(place: string): Promise<boolean> {
  return await touch(join(place, 'used')).then(
    () => true,
    (thrown: unknown) => !isGone(thrown),
  );
}

const isGone = (thrown: unknown) => (thrown as NodeJS.ErrnoException).code === 'ENOENT';

/** Removes what workers that died left on its way, in or out, and what was put aside long ago. */
export async function removeAbandoned(
  home: string,
  onProblem: (directory: string, thrown: unknown) => void,
): Promise<void> {
  for (const name of await readdir(home)) {
    const longest = name.startsWith(onTheWay) ? inUseMs : isPutAside(name) ? asideMs : null;
    if (longest === null) continue;
    // Renaming a directory sets this time, and nothing sets it back.
    const age = await stat(join(home, name)).then(
      ({ ctimeMs }) => Date.now() - ctimeMs,
      () => 0,
    );
    const directory = join(home, name);
    if (age > longest) await removeTree(directory).catch((thrown: unknown) => onProblem(directory, thrown));
  }
}

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Sets the time of its last change to now. */
export async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}
