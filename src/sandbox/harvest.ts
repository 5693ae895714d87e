import { type BigIntStats, constants } from 'node:fs';
import { chmod, lstat, opendir, readlink } from 'node:fs/promises';
import type { RefusalRule } from '../domain/patch.ts';
import { readSeen, sameContent } from './harvest-compare.ts';
import { createIgnored } from './harvest-ignored.ts';
import { pathProblem, shownPath } from './harvest-names.ts';
import type { HarvestEntry } from './port.ts';

export interface HarvestLimits {
  /** Bytes of one changed file, and of all together. Larger ones are not read. */
  readonly fileBytes: number;
  readonly totalBytes: number;
  /** Things in the workspace that the snapshot does not have as they are, directories included. */
  readonly entries: number;
}

export const harvestLimits: HarvestLimits = {
  fileBytes: 10 * 1024 * 1024,
  totalBytes: 50 * 1024 * 1024,
  entries: 20_000,
};

export interface HarvestPlaces {
  readonly workspace: string;
  readonly snapshot: string;
}

interface Seen {
  readonly name: Buffer;
  /** Relative to the root, bytes. */
  readonly path: Buffer;
  readonly stats: BigIntStats;
}

/** The walk is over: more than may be looked at. */
class TooMany extends Error {}

/** Pairs compared at once. */
const width = 16;

/**
 * What in the workspace is not as the snapshot has it. Only for a workspace whose container has ended: nothing
 * moves any more. Nothing is trusted all the same: types are read before contents, symlinks are never followed,
 * what is no regular file is never opened, and contents are compared, not times. New files that the snapshot's
 * own `.gitignore` files name are left out, as `git add` would. The `.git` at the root is not looked at.
 */
export async function harvestWorkspace(
  places: HarvestPlaces,
  signal: AbortSignal,
  limits: HarvestLimits = harvestLimits,
): Promise<HarvestEntry[]> {
  const found: { path: Buffer; entry: HarvestEntry }[] = [];
  const roots = { workspace: Buffer.from(places.workspace), snapshot: Buffer.from(places.snapshot) };
  const { isIgnored, end } = createIgnored(places.snapshot, signal);
  let looked = 0;
  let total = 0;

  const look = (count: number) => {
    looked += count;
    if (looked > limits.entries) throw new TooMany();
  };
  const refuse = (path: Buffer, rule: RefusalRule, reason: string) => {
    found.push({ path, entry: { kind: 'refused', path: shownPath(path), rule, reason } });
  };

  /** A regular file that is new, or has another content or mode. */
  const take = ({ path, stats }: Seen) => {
    const bytes = Number(stats.size);
    const problem = pathProblem(path);
    if (problem !== null) return refuse(path, problem.rule, problem.reason);
    if (stats.nlink > 1n) return refuse(path, 'hard_link', 'is a hard link');
    if ((stats.mode & 0o7000n) !== 0n) return refuse(path, 'mode', 'has a set-uid, set-gid or sticky bit');
    if (bytes > limits.fileBytes) {
      return refuse(path, 'size', `has ${bytes} bytes, ${limits.fileBytes} are allowed`);
    }
    total += bytes;
    const place = below(roots.workspace, path);
    const executable = isExecutable(stats);
    const read = () => readSeen(place, stats);
    found.push({ path, entry: { kind: 'file', path: path.toString('utf8'), executable, bytes, read } });
  };

  const compare = async (now: Seen, before: Seen | undefined, overSymlink: boolean): Promise<void> => {
    const { path, stats } = now;
    if (before?.stats.isDirectory() && !stats.isDirectory()) {
      const inner = await readDirectory(roots.snapshot, path);
      if (inner.length === 0) return refuse(path, 'submodule', 'lies where a submodule belongs');
      await gone(before);
    }
    if (stats.isDirectory()) {
      if (before !== undefined && !before.stats.isDirectory()) await gone(before);
      const link = overSymlink || (before?.stats.isSymbolicLink() ?? false);
      await walk(path, before?.stats.isDirectory() ?? false, link);
    } else if (stats.isSymbolicLink()) {
      const same =
        before?.stats.isSymbolicLink() &&
        (await target(roots.workspace, path)).equals(await target(roots.snapshot, path));
      if (!same) refuse(path, 'symlink', 'is a symlink that was made or changed');
    } else if (!stats.isFile()) {
      refuse(path, 'special_file', `is ${kindOf(stats)}`);
    } else if (
      before?.stats.isFile() &&
      isExecutable(before.stats) === isExecutable(stats) &&
      (stats.mode & 0o7000n) === 0n
    ) {
      const pair = [
        { path: below(roots.workspace, path), seen: stats },
        { path: below(roots.snapshot, path), seen: before.stats },
      ] as const;
      if (!(await sameContent(...pair))) take(now);
    } else take(now);
  };

  /** What the snapshot has and the workspace has not, down to the files. */
  const gone = async ({ path, stats }: Seen): Promise<void> => {
    if (!stats.isDirectory()) {
      const problem = pathProblem(path);
      if (problem === null) {
        found.push({ path, entry: { kind: 'deleted', path: path.toString('utf8') } });
      } else refuse(path, problem.rule, `was removed, but ${problem.reason}`);
      return;
    }
    for (const inner of await readDirectory(roots.snapshot, path)) await gone(inner);
  };

  const walk = async (path: Buffer, inSnapshot: boolean, overSymlink: boolean): Promise<void> => {
    signal.throwIfAborted();
    const before = new Map<string, Seen>();
    if (inSnapshot) {
      for (const seen of await readDirectory(roots.snapshot, path)) before.set(key(seen), seen);
    }
    const isSubmodule = inSnapshot && path.length > 0 && before.size === 0;
    const left = limits.entries - looked + before.size + 1;
    const now = await readDirectory(roots.workspace, path, left);
    const fresh: Seen[] = [];
    const pairs: [Seen, Seen | undefined][] = [];
    for (const seen of now) {
      const old = before.get(key(seen));
      before.delete(key(seen));
      if (old === undefined) fresh.push(seen);
      else pairs.push([seen, old]);
    }
    look(fresh.length);
    // Git would not look behind a symlink of the snapshot, however deep.
    const ask = fresh.length > 0 && !overSymlink;
    const ignored = ask ? await isIgnored(fresh.map(asked)) : [];
    for (const [index, seen] of fresh.entries()) {
      if (ignored[index] === true) continue;
      const problem = pathProblem(seen.path);
      if (problem !== null) refuse(seen.path, problem.rule, problem.reason);
      else if (isSubmodule) refuse(seen.path, 'submodule', 'lies where a submodule belongs');
      else pairs.push([seen, undefined]);
    }
    for (const missing of before.values()) await gone(missing);
    const files = pairs.filter(([seen]) => !seen.stats.isDirectory());
    for (let at = 0; at < files.length; at += width) {
      signal.throwIfAborted();
      await Promise.all(files.slice(at, at + width).map((pair) => compare(...pair, overSymlink)));
    }
    for (const pair of pairs) if (pair[0].stats.isDirectory()) await compare(...pair, overSymlink);
  };

  try {
    await walk(Buffer.alloc(0), true, false);
  } catch (thrown) {
    if (!(thrown instanceof TooMany)) throw thrown;
    refuse(Buffer.from('.'), 'size', `more than ${limits.entries} files and directories were made`);
  } finally {
    end();
  }
  if (total > limits.totalBytes) {
    const reason = `the changed files have ${total} bytes, ${limits.totalBytes} are allowed`;
    refuse(Buffer.from('.'), 'size', reason);
  }
  return found.sort((a, b) => Buffer.compare(a.path, b.path)).map(({ entry }) => entry);
}

const key = ({ name }: Seen) => name.toString('latin1');
const asked = ({ path, stats }: Seen) =>
  stats.isDirectory() ? Buffer.concat([path, Buffer.from('/')]) : path;
const isExecutable = (stats: BigIntStats) => (stats.mode & 0o100n) !== 0n;

const below = (root: Buffer, path: Buffer) => Buffer.concat([root, Buffer.from('/'), path]);

const target = (root: Buffer, path: Buffer) => readlink(below(root, path), { encoding: 'buffer' });

function kindOf(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  return stats.isBlockDevice() || stats.isCharacterDevice() ? 'a device' : 'no regular file';
}

/** Entries of a directory with their types, the root's `.git` left out. Throws {@link TooMany} beyond `limit`. */
async function readDirectory(root: Buffer, path: Buffer, limit = Number.POSITIVE_INFINITY): Promise<Seen[]> {
  const place = path.length === 0 ? root : below(root, path);
  const names: Buffer[] = [];
  for await (const { name } of await openDirectory(place)) {
    if (path.length === 0 && name.toString('latin1') === '.git') continue;
    names.push(name);
    if (names.length > limit) throw new TooMany();
  }
  const seen: Seen[] = [];
  for (let at = 0; at < names.length; at += 64) {
    const some = names.slice(at, at + 64).map(async (name) => {
      const inner = path.length === 0 ? name : below(path, name);
      return { name, path: inner, stats: await lstat(below(root, inner), { bigint: true }) };
    });
    seen.push(...(await Promise.all(some)));
  }
  return seen;
}

/** A directory of our own without the right to read it is given that right: its mode is in no patch. */
async function openDirectory(place: Buffer): Promise<AsyncIterable<{ readonly name: Buffer }>> {
  const open = async () => {
    // Node's types know no names as bytes here; with this encoding it gives them.
    const directory: unknown = await opendir(place as unknown as string, { encoding: 'buffer' as 'utf8' });
    return directory as AsyncIterable<{ readonly name: Buffer }>;
  };
  const readable = process.getuid?.() === 0 || (await lstat(place, { bigint: true })).mode & 0o500n;
  if (readable === true || readable === 0o500n) return await open();
  await chmod(place, constants.S_IRWXU);
  return await open();
}
