import {
  eachOf,
  inside,
  keyOf,
  lookAt,
  namesIn,
  readDirectory,
  rootPath,
  type Seen,
  TooMany,
} from './harvest-directory.ts';
import { isWhiteout, type Layer, namesThrough, plainLayer } from './harvest-layers.ts';
import { readOpaque } from './harvest-opaque.ts';

/** Two ways of seeing what became of a workspace; the rules of what that means are harvest.ts's. */
export interface HarvestSource {
  /** Where what the agent left is read. */
  readonly root: Buffer;
  readonly snapshot: Buffer;
  /** What the workspace was when the agent got it, as layers. */
  readonly lower: readonly Layer[];
  /**
   * All in a directory that may be other than it was (of what is there unchanged, some or all), and the names that are
   * gone. `lower`: the layers that show in it. Throws {@link TooMany} when more than `left` were made.
   */
  list(
    path: Buffer,
    lower: readonly Layer[],
    left: number,
  ): Promise<{ readonly now: readonly Seen[]; readonly gone: readonly Buffer[] }>;
}

export interface HarvestPlaces {
  readonly workspace: string;
  readonly snapshot: string;
  /** The whole tree that the workspace was a copy of, where that is not the snapshot. */
  readonly prepared?: string | null | undefined;
}

/** A copy holds everything, changed or not. */
export function copySource({ workspace, snapshot, prepared }: HarvestPlaces): HarvestSource {
  const root = Buffer.from(workspace);
  const base = Buffer.from(snapshot);
  return {
    root,
    snapshot: base,
    lower: [plainLayer(prepared ? Buffer.from(prepared) : base)],
    async list(path, lower, left) {
      const before = await namesThrough(lower, path);
      const now = await readDirectory(root, path, left + before.length);
      return { now, gone: without(before, now) };
    },
  };
}

export interface UpperPlaces {
  readonly upper: string;
  readonly snapshot: string;
  /** A layer between both: the upper directory of another overlay. */
  readonly prepared?: string | null | undefined;
}

/** The upper directory of an overlay holds what was touched, so that the rest need not be looked at. */
export function upperSource(places: UpperPlaces, limit: number, signal: AbortSignal): HarvestSource {
  const root = Buffer.from(places.upper);
  const snapshot = Buffer.from(places.snapshot);
  const prepared = places.prepared ? Buffer.from(places.prepared) : null;
  const roots = prepared === null ? [snapshot] : [prepared, snapshot];

  /** Read when first asked for; most agents touch a few directories. */
  let both: Promise<Map<string, BothSides>> | null = null;
  const opaqueIn = (layer: Buffer, isAsked: (sides: readonly Buffer[]) => boolean) => {
    let opaque: Promise<ReadonlySet<string>> | null = null;
    return async (path: Buffer) => {
      both ??= onBothSides(root, roots, limit, signal);
      opaque ??= both.then((all) => {
        const asked = [...all.values()].filter(({ sides }) => isAsked(sides));
        return readOpaque(
          layer,
          asked.map((one) => one.path),
          signal,
        );
      });
      return (await opaque).has(keyOf(path));
    };
  };
  const isOpaque = opaqueIn(root, () => true);
  const base = plainLayer(snapshot);
  return {
    root,
    snapshot,
    lower:
      prepared === null
        ? [base]
        : [{ root: prepared, isOpaque: opaqueIn(prepared, (sides) => sides.length === 2) }, base],
    async list(path, lower, left) {
      const all = await readDirectory(root, path, left).catch(async (thrown: unknown) => {
        if (!(thrown instanceof TooMany)) throw thrown;
        // What was there already does not count.
        const before = await namesThrough(lower, path);
        return await readDirectory(root, path, left + before.length);
      });
      const now = all.filter(({ stats }) => !isWhiteout(stats));
      const gone = all.filter(({ stats }) => isWhiteout(stats)).map(({ name }) => name);
      if (path.length === 0 || lower.length === 0 || !(await isOpaque(path))) return { now, gone };
      return { now, gone: without(await namesThrough(lower, path), now) };
    },
  };
}

interface BothSides {
  readonly path: Buffer;
  /** Those of the lower directories that have a directory there, too. */
  readonly sides: readonly Buffer[];
}

/** The directories of an upper directory that lie over others. */
async function onBothSides(
  root: Buffer,
  roots: readonly Buffer[],
  limit: number,
  signal: AbortSignal,
): Promise<Map<string, BothSides>> {
  const found = new Map<string, BothSides>();
  const visit = async (path: Buffer, sides: readonly Buffer[]): Promise<void> => {
    signal.throwIfAborted();
    const names = await namesIn(root, path, limit).catch(async (thrown: unknown) => {
      if (!(thrown instanceof TooMany)) throw thrown;
      const before = await eachOf(sides, (side) => namesIn(side, path));
      return await namesIn(root, path, limit + before.flat().length);
    });
    const directories = names.filter((entry) => entry.isDirectory());
    const pairs = await eachOf(directories, async ({ name }) => {
      const there = await eachOf(sides, async (side) =>
        (await lookAt(side, path, name))?.stats.isDirectory() === true ? [side] : [],
      );
      return { path: inside(path, name), sides: there.flat() };
    });
    for (const pair of pairs) {
      if (pair.sides.length === 0) continue;
      found.set(keyOf(pair.path), pair);
      await visit(pair.path, pair.sides);
    }
  };
  await visit(rootPath, roots);
  return found;
}

function without(names: readonly Buffer[], seen: readonly Seen[]): Buffer[] {
  const there = new Set(seen.map(({ name }) => keyOf(name)));
  return names.filter((name) => !there.has(keyOf(name)));
}
