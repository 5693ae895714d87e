import type { BigIntStats } from 'node:fs';
import type { RefusalRule } from '../../domain/patch.ts';
import type { HarvestEntry } from '../port.ts';
import { readSeen, sameContent } from './compare.ts';
import {
  below,
  eachOf,
  kindOf,
  lookAt,
  namesIn,
  readDirectory,
  rootPath,
  type Seen,
  TooMuch,
  targetOf,
} from './directory.ts';
import { createIgnored } from './ignored.ts';
import { lookThrough, type Shown, whileTheyStand } from './layers.ts';
import { pathProblem, shownPath } from './names.ts';
import {
  copySource,
  type HarvestPlaces,
  type HarvestSource,
  type UpperPlaces,
  upperSource,
} from './sources.ts';

export interface HarvestLimits {
  /** Bytes of one changed file, and of all together. Larger ones are not read. */
  readonly fileBytes: number;
  readonly totalBytes: number;
  /** Things in the workspace that the snapshot does not have as they are, directories included. */
  readonly entries: number;
  /** What holding names against `.gitignore` files may take, seconds of CPU time. */
  readonly ignoreSeconds: number;
}

export const harvestLimits: HarvestLimits = {
  fileBytes: 10 * 1024 * 1024,
  totalBytes: 50 * 1024 * 1024,
  entries: 20_000,
  ignoreSeconds: 20,
};

/** What in a copy is not as the snapshot has it; all of the copy is looked at. See {@link harvest}. */
export const harvestWorkspace = (
  places: HarvestPlaces,
  signal: AbortSignal,
  limits: HarvestLimits = harvestLimits,
): Promise<HarvestEntry[]> => harvest(copySource(places), signal, limits);

/** The same of an overlay; what was not written to is not looked at. */
export const harvestUpper = (
  places: UpperPlaces,
  signal: AbortSignal,
  limits: HarvestLimits = harvestLimits,
): Promise<HarvestEntry[]> => harvest(upperSource(places, limits.entries, signal), signal, limits);

/** A path as it is, as the agent got it, and as the snapshot has it. */
interface Trio {
  readonly now: Seen;
  readonly lower: Shown | undefined;
  readonly before: Seen | undefined;
}

/** Where the walk is. */
interface Place {
  readonly path: Buffer;
  /** The layers of what the agent got that show here. */
  readonly lower: readonly Buffer[];
  /** Whether the snapshot has this directory. */
  readonly inSnapshot: boolean;
  readonly overSymlink: boolean;
}

/** Pairs compared at once. */
const width = 16;

/**
 * What in the workspace is not as the snapshot has it. Only for a workspace whose container has ended: nothing
 * moves any more. Nothing is trusted all the same: types are read before contents, symlinks are never followed,
 * what is no regular file is never opened, and contents are compared, not times. New files that the snapshot's
 * own `.gitignore` files name are left out, as `git add` would. The `.git` at the root is not looked at.
 *
 * What a prepared layer holds and the snapshot does not is left out with all below it, as if ignored, changed or not.
 */
async function harvest(
  source: HarvestSource,
  signal: AbortSignal,
  limits: HarvestLimits,
): Promise<HarvestEntry[]> {
  const found: { path: Buffer; entry: HarvestEntry }[] = [];
  const { root, snapshot } = source;
  const { isIgnored, end } = createIgnored(snapshot.toString(), limits.ignoreSeconds, signal);
  let looked = 0;
  let total = 0;

  const look = (count: number) => {
    looked += count;
    if (looked > limits.entries) throw new TooMuch();
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
    const place = below(root, path);
    const executable = isExecutable(stats);
    const read = () => readSeen(place, stats);
    found.push({ path, entry: { kind: 'file', path: path.toString('utf8'), executable, bytes, read } });
  };

  /** Whether a file or symlink is the same in the workspace and in another place. */
  const isSame = async ({ path, stats }: Seen, other: Seen, otherRoot: Buffer): Promise<boolean> => {
    if (stats.isSymbolicLink()) {
      if (!other.stats.isSymbolicLink()) return false;
      return (await targetOf(root, path)).equals(await targetOf(otherRoot, path));
    }
    if (!stats.isFile() || !other.stats.isFile()) return false;
    if (isExecutable(other.stats) !== isExecutable(stats) || (stats.mode & 0o7000n) !== 0n) return false;
    return await sameContent(
      { path: below(root, path), seen: stats },
      { path: below(otherRoot, path), seen: other.stats },
    );
  };

  const compare = async ({ now, lower, before }: Trio, overSymlink: boolean): Promise<void> => {
    const { path, stats } = now;
    if (lower !== undefined && lower !== before && (await isSame(now, lower, lower.layer))) return;
    if (before?.stats.isDirectory() && !stats.isDirectory()) {
      if (await isEmpty(snapshot, path)) return refuse(path, 'submodule', 'lies where a submodule belongs');
      await gone(before);
    }
    if (stats.isDirectory()) {
      if (before !== undefined && !before.stats.isDirectory()) await gone(before);
      const inSnapshot = before?.stats.isDirectory() ?? false;
      const link = overSymlink || (before?.stats.isSymbolicLink() ?? false);
      await walk({ path, lower: lower?.within ?? [], inSnapshot, overSymlink: link });
    } else if (before !== undefined && (await isSame(now, before, snapshot))) return;
    else if (stats.isSymbolicLink()) refuse(path, 'symlink', 'is a symlink that was made or changed');
    else if (!stats.isFile()) refuse(path, 'special_file', `is ${kindOf(stats)}`);
    else take(now);
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
    for (const inner of await readDirectory(snapshot, path)) await gone(inner);
  };

  /** New things that may be in a patch; the others are refused or left out. */
  const takeFresh = async ({ path, inSnapshot, overSymlink }: Place, fresh: readonly Seen[]) => {
    if (fresh.length === 0) return [];
    look(fresh.length);
    const isSubmodule = inSnapshot && path.length > 0 && (await isEmpty(snapshot, path));
    // Git would not look behind a symlink of the snapshot, however deep.
    const ignored = overSymlink ? [] : await isIgnored(fresh.map(asked));
    return fresh.filter((seen, index) => {
      if (ignored[index] === true) return false;
      const problem = pathProblem(seen.path);
      if (problem !== null) refuse(seen.path, problem.rule, problem.reason);
      else if (isSubmodule) refuse(seen.path, 'submodule', 'lies where a submodule belongs');
      return problem === null && !isSubmodule;
    });
  };

  const walk = async (place: Place): Promise<void> => {
    signal.throwIfAborted();
    const { path, lower, inSnapshot, overSymlink } = place;
    const inBase = async (name: Buffer, shown: Shown | undefined): Promise<Seen | undefined> => {
      if (!inSnapshot) return undefined;
      return shown?.layer === snapshot ? shown : await lookAt(snapshot, path, name);
    };
    const listed = await source.list(path, lower, limits.entries - looked + 1);
    const trios = await eachOf(listed.now, async (now): Promise<Trio> => {
      const shown = await lookThrough(lower, path, now.name);
      return { now, lower: shown, before: await inBase(now.name, shown) };
    });
    const fresh = trios.filter((trio) => trio.lower === undefined && trio.before === undefined);
    const taken = await takeFresh(
      place,
      fresh.map(({ now }) => now),
    );
    for (const name of listed.gone) {
      const shown = await lookThrough(lower, path, name);
      const before = await inBase(name, shown);
      if (shown !== undefined && before !== undefined) await gone(before);
    }
    const pairs: Trio[] = [
      ...trios.filter((trio) => trio.before !== undefined && !isPrepared(trio)),
      ...taken.map((now) => ({ now, lower: undefined, before: undefined })),
    ];
    const files = pairs.filter(({ now }) => !now.stats.isDirectory());
    for (let at = 0; at < files.length; at += width) {
      signal.throwIfAborted();
      await Promise.all(files.slice(at, at + width).map((trio) => compare(trio, overSymlink)));
    }
    for (const trio of pairs) if (trio.now.stats.isDirectory()) await compare(trio, overSymlink);
  };

  try {
    const { lower } = source;
    await whileTheyStand(lower, () => walk({ path: rootPath, lower, inSnapshot: true, overSymlink: false }));
  } catch (thrown) {
    if (!(thrown instanceof TooMuch)) throw thrown;
    const reason = thrown.message || `more than ${limits.entries} files and directories were made`;
    refuse(Buffer.from('.'), 'size', reason);
  } finally {
    end();
  }
  if (total > limits.totalBytes) {
    const reason = `the changed files have ${total} bytes, ${limits.totalBytes} are allowed`;
    refuse(Buffer.from('.'), 'size', reason);
  }
  return found.sort((a, b) => Buffer.compare(a.path, b.path)).map(({ entry }) => entry);
}

/** A directory that the prepared layer put in the place of something else: all in it is its own. */
const isPrepared = ({ now, lower, before }: Trio) =>
  now.stats.isDirectory() && lower?.stats.isDirectory() === true && before?.stats.isDirectory() === false;

const isEmpty = (root: Buffer, path: Buffer) =>
  namesIn(root, path, 0).then(
    () => true,
    (thrown: unknown) => {
      if (thrown instanceof TooMuch) return false;
      throw thrown;
    },
  );
const asked = ({ path, stats }: Seen) =>
  stats.isDirectory() ? Buffer.concat([path, Buffer.from('/')]) : path;
const isExecutable = (stats: BigIntStats) => (stats.mode & 0o100n) !== 0n;
