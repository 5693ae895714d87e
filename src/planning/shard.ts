/** Cuts a change into shards: disjoint sets of files, of about the same work, that belong together. */

export interface ShardFile {
  readonly path: string;
  /** See complexity.ts. */
  readonly complexity: number;
}

export interface Shard {
  /** What people call it: its packages, and its number where one is cut: `packages/api 2/3`. */
  readonly name: string;
  /** Sorted. */
  readonly paths: readonly string[];
  readonly complexity: number;
}

export interface ShardLimits {
  /** Score a shard is filled up to; only a single file may be above. */
  readonly complexity: number;
  readonly files: number;
  /** Shards in all; beyond it shards grow over the other two limits. */
  readonly shards: number;
}

/** A package with less than this part of the complexity limit is not worth an agent of its own. */
const worthwhile = 1 / 8;

interface Bin {
  readonly names: readonly string[];
  readonly files: readonly ShardFile[];
  readonly complexity: number;
}

/**
 * Every file is in exactly one shard. Files of a package stay together and are cut into equal parts where
 * they exceed the limits; packages of little work join their neighbours. The same files give the same shards.
 */
export function shardFiles(
  files: readonly ShardFile[],
  packageOf: (path: string) => string,
  limits: ShardLimits,
): Shard[] {
  const sorted = files.toSorted((a, b) => compare(a.path, b.path));
  const packages = [...Map.groupBy(sorted, (file) => packageOf(file.path))]
    .toSorted(([a], [b]) => compare(a, b))
    .map(([name, members]) => toBin([name], members));
  const parts = joinSmall(packages, limits).flatMap((bin) => cut(bin, limits));
  return named(growTo(limits.shards, parts));
}

/**
 * Small neighbours are put together until they are worth an agent, and no further: more shards are more in
 * parallel. What is left over joins the one before it. The limits still hold.
 */
function joinSmall(packages: readonly Bin[], limits: ShardLimits): Bin[] {
  const small = (bin: Bin) => bin.complexity < limits.complexity * worthwhile;
  const join = (bins: readonly Bin[], wanted: (last: Bin, bin: Bin) => boolean): Bin[] => {
    const joined: Bin[] = [];
    for (const bin of bins) {
      const last = joined.at(-1);
      if (last !== undefined && wanted(last, bin) && fits([last, bin], limits))
        joined.splice(-1, 1, merge(last, bin));
      else joined.push(bin);
    }
    return joined;
  };
  return join(
    join(packages, (last) => small(last)),
    (_, bin) => small(bin),
  );
}

function fits(bins: readonly Bin[], limits: ShardLimits): boolean {
  const complexity = bins.reduce((sum, bin) => sum + bin.complexity, 0);
  const files = bins.reduce((sum, bin) => sum + bin.files.length, 0);
  return complexity <= limits.complexity && files <= limits.files;
}

/** The fewest equal parts that hold the limits. */
function cut(bin: Bin, limits: ShardLimits): Bin[] {
  const least = Math.max(
    Math.ceil(bin.complexity / limits.complexity),
    Math.ceil(bin.files.length / limits.files),
  );
  for (let count = Math.max(1, least); count < bin.files.length; count += 1) {
    const parts = balance(bin.files, count, limits.files);
    const held = parts.every((part) => part.length <= 1 || sumOf(part) <= limits.complexity);
    if (held) return parts.map((part) => toBin(bin.names, part));
  }
  return bin.files.map((file) => toBin(bin.names, [file]));
}

/**
 * Longest processing time first: each file, the largest first, goes to the part with the least work that has
 * room. While no part is full, the largest part is at most 4/3 - 1/(3 count) of the best possible (Graham 1969).
 */
export function balance(files: readonly ShardFile[], count: number, maxFiles: number): ShardFile[][] {
  const parts = Array.from({ length: count }, () => ({ files: [] as ShardFile[], work: 0 }));
  for (const file of files.toSorted((a, b) => b.complexity - a.complexity || compare(a.path, b.path))) {
    const open = parts.filter((part) => part.files.length < maxFiles);
    const least = open.reduce(
      (kept, part) => (part.work < kept.work ? part : kept),
      open[0] ?? parts[0] ?? never(),
    );
    least.files.push(file);
    least.work += file.complexity;
  }
  return parts
    .filter((part) => part.files.length > 0)
    .map((part) => part.files.toSorted((a, b) => compare(a.path, b.path)))
    .toSorted((a, b) => compare(a[0]?.path ?? '', b[0]?.path ?? ''));
}

/** Puts the two neighbours of least work together until there are no more than `most`. */
function growTo(most: number, parts: readonly Bin[]): Bin[] {
  const bins = [...parts];
  while (bins.length > most) {
    const works = bins.slice(1).map((bin, index) => bin.complexity + (bins[index]?.complexity ?? 0));
    const at = works.reduce((best, work, index) => (work < (works[best] ?? 0) ? index : best), 0);
    const [left, right] = [bins[at], bins[at + 1]];
    if (left === undefined || right === undefined) break;
    bins.splice(at, 2, merge(left, right));
  }
  return bins;
}

function named(bins: readonly Bin[]): Shard[] {
  const nameOf = (bin: Bin) => {
    const [first = '', ...rest] = bin.names.map((name) => (name === '' ? 'top level' : name));
    if (rest.length <= 2) return [first, ...rest].join(', ');
    return `${first} and ${rest.length} more`;
  };
  const total = Map.groupBy(bins, nameOf);
  return bins.map((bin) => {
    const name = nameOf(bin);
    const alike = total.get(name) ?? [bin];
    const part = alike.length > 1 ? ` ${alike.indexOf(bin) + 1}/${alike.length}` : '';
    return {
      name: `${name}${part}`,
      paths: bin.files.map((file) => file.path),
      complexity: bin.complexity,
    };
  });
}

function toBin(names: readonly string[], files: readonly ShardFile[]): Bin {
  return { names, files, complexity: sumOf(files) };
}

function merge(a: Bin, b: Bin): Bin {
  const files = [...a.files, ...b.files].toSorted((x, y) => compare(x.path, y.path));
  return toBin([...new Set([...a.names, ...b.names])], files);
}

function sumOf(files: readonly ShardFile[]): number {
  return files.reduce((sum, file) => sum + file.complexity, 0);
}

/** By code unit: the same on every machine, unlike a locale's order. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function never(): never {
  throw new RangeError('files cannot be cut into no parts');
}
