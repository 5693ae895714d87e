import { PatchfleetError } from './failure.ts';

/**
 * How much memory the sandboxes of a row are given, and what part of a worker they take: from what a verification of
 * the repository needed before, and where nothing is known of that from what there is to work on.
 */

/** The operator's: `sandbox.memory_mib` and `sandbox.memory_ceiling_mib`. */
export interface MemoryBounds {
  readonly baseMib: number;
  readonly ceilingMib: number;
}

/** What planning knows of a row; what it does not know is 0. */
export interface WorkSize {
  /** Files of the tree that tools walk, and lines that the row is about. */
  readonly files: number;
  readonly lines: number;
  /** Levels of nesting in those lines, the deepest. */
  readonly nesting: number;
  /** Modules that those lines name, or packages that the repository is made of. */
  readonly dependencies: number;
}

export interface SandboxEstimate {
  readonly memoryMib: number;
  /** What it takes of a worker's `limits.parallel`: its memory by the operator's default, at least 1. */
  readonly weight: number;
}

/** What is given beyond what was needed, since two runs of the same never need quite the same. */
const margin = 1.25;
/** Of the newest verifications that many in a hundred are to fit. */
const percentile = 90;

/**
 * | part | MiB | why |
 * |---|---|---|
 * | any | 192 | tool server, git, a shell, an interpreter |
 * | file of the tree | 1/64 | what walks, indexes or compiles holds something of each |
 * | line | 1/64 | a compiler's tree of it, some hundred times its text |
 * | level of nesting | 1 % more for each beyond 4, at most 50 % | deep code is held at once |
 * | dependency | 1 | read with the code that names it |
 *
 * A guess: it raises nothing beyond the ceiling and never refuses.
 */
function guessMib({ files, lines, nesting, dependencies }: WorkSize): number {
  const deep = 1 + Math.min(50, Math.max(0, nesting - 4)) / 100;
  return 192 + files / 64 + (lines / 64) * deep + dependencies;
}

/**
 * `peaksMib`: what verifications of the repository needed at most, the newest ones. Fails with `memory_ceiling` where
 * they needed more than the operator allows. Memory comes in classes (the default, twice, four times as much, ...; at
 * most the ceiling), so that sandboxes started ahead fit many rows.
 */
export function estimateSandbox(
  size: WorkSize,
  peaksMib: readonly number[],
  bounds: MemoryBounds,
): SandboxEstimate {
  const { ceilingMib } = bounds;
  const measured = neededMib(peaksMib);
  if (measured !== null && measured > ceilingMib)
    throw new PatchfleetError(
      'memory_ceiling',
      `verifications of this repository needed ${Math.round(measured)} MiB, and the operator allows ${ceilingMib} MiB (\`sandbox.memory_ceiling_mib\`)`,
    );
  const wanted = measured === null ? guessMib(size) : measured * margin;
  const memoryMib = classOf(wanted, bounds);
  return { memoryMib, weight: weightOf(memoryMib, bounds) };
}

/** What 90 of 100 verifications did with; null: nothing is known. */
function neededMib(peaksMib: readonly number[]): number | null {
  const sorted = peaksMib.toSorted((a, b) => a - b);
  return sorted[Math.ceil((percentile / 100) * sorted.length) - 1] ?? null;
}

function classOf(wantedMib: number, { baseMib, ceilingMib }: MemoryBounds): number {
  let memoryMib = baseMib;
  while (memoryMib < wantedMib && memoryMib < ceilingMib) memoryMib *= 2;
  // Not less than the default, should the ceiling lie below it: that is the operator's to mend.
  return Math.max(baseMib, Math.min(memoryMib, ceilingMib));
}

export function weightOf(memoryMib: number, { baseMib }: Pick<MemoryBounds, 'baseMib'>): number {
  return Math.max(1, Math.ceil(memoryMib / baseMib));
}

/** After a sandbox with that much ran out of it: the next to try; null: the operator allows no more. */
export function nextMemoryMib(lastMib: number, ceilingMib: number): number | null {
  return lastMib >= ceilingMib ? null : Math.min(lastMib * 2, ceilingMib);
}
