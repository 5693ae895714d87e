import type { BigIntStats } from 'node:fs';
import { posix } from 'node:path';
import {
  eachOf,
  inside,
  keyOf,
  type Named,
  namesIn,
  readDirectory,
  rootPath,
  type Seen,
  TooMuch,
} from './directory.ts';
import { lookThrough, namesThrough } from './layers.ts';
import { readOpaque } from './opaque.ts';

/** Two ways of seeing what became of a workspace; the rules of what that means are harvest.ts's. */
export interface HarvestSource {
  /** Where what the agent left is read. */
  readonly root: Buffer;
  readonly snapshot: Buffer;
  /** What the workspace was when the agent got it, as layers. */
  readonly lower: readonly Buffer[];
  /**
   * All in a directory that may be other than it was (of what is there unchanged, some or all), and the names that are
   * gone. `lower`: the layers that show in it. Throws {@link TooMuch} when more than `left` were made.
   */
  list(
    path: Buffer,
    lower: readonly Buffer[],
    left: number,
  ): Promise<{ readonly now: readonly Seen[]; readonly gone: readonly Buffer[] }>;
}

interface LowerPlaces {
  readonly snapshot: string;
  /** What lies over the snapshot, if anything does. */
  readonly prepared?: string | null | undefined;
}
export interface HarvestPlaces extends LowerPlaces {
  readonly workspace: string;
}
export interface UpperPlaces extends LowerPlaces {
  readonly upper: string;
}

function lowerOf({ snapshot, prepared }: LowerPlaces) {
  const base = Buffer.from(snapshot);
  return { snapshot: base, lower: prepared ? [Buffer.from(prepared), base] : [base] };
}

/** A copy holds everything, changed or not. */
export function copySource(places: HarvestPlaces): HarvestSource {
  const root = Buffer.from(places.workspace);
  return {
    root,
    ...lowerOf(places),
    async list(path, lower, left) {
      const before = await namesThrough(lower, path);
      const now = await readDirectory(root, path, left + before.length);
      return { now, gone: without(before, now) };
    },
  };
}

/** The upper directory of an overlay holds what was touched, so that the rest need not be looked at. */
export function upperSource(places: UpperPlaces, limit: number, signal: AbortSignal): HarvestSource {
  const root = Buffer.from(places.upper);
  const all = lowerOf(places);
  /** Read when first asked for; most agents touch a few directories. */
  let opaque: Promise<ReadonlySet<string>> | null = null;
  const isOpaque = async (path: Buffer) => {
    opaque ??= onBothSides(root, all.lower, limit, signal).then(async (both) =>
      withInner(both, await readOpaque(root, both, signal)),
    );
    return (await opaque).has(keyOf(path));
  };
  return {
    root,
    ...all,
    async list(path, lower, left) {
      const found = await withoutWhatWas(path, lower, left, (most) => readDirectory(root, path, most));
      const now = found.filter(({ stats }) => !isWhiteout(stats));
      const gone = found.filter(({ stats }) => isWhiteout(stats)).map(({ name }) => name);
      // The root cannot be replaced.
      if (path.length === 0 || lower.length === 0 || !(await isOpaque(path))) return { now, gone };
      return { now, gone: without(await namesThrough(lower, path), now) };
    },
  };
}

/** How an upper directory says that what lies below by this name is gone. */
const isWhiteout = (stats: BigIntStats): boolean => stats.isCharacterDevice() && stats.rdev === 0n;

/** Reads no more than `left`, and what was there already, which is counted only where it matters. */
async function withoutWhatWas<T>(
  path: Buffer,
  lower: readonly Buffer[],
  left: number,
  read: (most: number) => Promise<T>,
): Promise<T> {
  try {
    return await read(left);
  } catch (thrown) {
    if (!(thrown instanceof TooMuch)) throw thrown;
    return await read(left + (await namesThrough(lower, path)).length);
  }
}

/** Directories in one that hides what lies below it hide it, too, and need no mark for that. */
function withInner(paths: readonly Buffer[], marked: ReadonlySet<string>): ReadonlySet<string> {
  const hiding = new Set<string>();
  // Parents come first.
  for (const key of paths.map(keyOf)) {
    if (marked.has(key) || hiding.has(posix.dirname(key))) hiding.add(key);
  }
  return hiding;
}

/** The directories of an upper directory that lie over others, parents first; those lie over others, too. */
async function onBothSides(
  root: Buffer,
  layers: readonly Buffer[],
  limit: number,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const found: Buffer[] = [];
  const visit = async (path: Buffer, lower: readonly Buffer[]): Promise<void> => {
    signal.throwIfAborted();
    const names = await withoutWhatWas(path, lower, limit, (most) => namesIn(root, path, most));
    const directories = names.filter((entry: Named) => entry.isDirectory());
    const below = await eachOf(directories, ({ name }) => lookThrough(lower, path, name));
    for (const [index, { name }] of directories.entries()) {
      const within = below[index]?.within ?? [];
      if (within.length === 0) continue;
      found.push(inside(path, name));
      await visit(inside(path, name), within);
    }
  };
  await visit(rootPath, layers);
  return found;
}

function without(names: readonly Buffer[], seen: readonly Seen[]): Buffer[] {
  const there = new Set(seen.map(({ name }) => keyOf(name)));
  return names.filter((name) => !there.has(keyOf(name)));
}
