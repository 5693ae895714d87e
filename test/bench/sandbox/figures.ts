import { rounded } from '../result.ts';

/** What a round took of each of the things that are compared, milliseconds; in the order they were measured. */
export type Times = readonly number[];

/** The middle one; between the two in the middle where there are as many on both sides. Fails for none. */
export function median(times: Times): number {
  const sorted = times.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error('there is no median of nothing');
  return (low + high) / 2;
}

/** To the third digit that counts, so that microseconds are not lost beside seconds. */
export function ofThree(value: number): number {
  return Number(value.toPrecision(3));
}

/** From the warm pool, beside the cold ways. */
export function warmFigures(rounds: {
  /** A container of the engine, from nothing to the end of the command. */
  readonly coldRun: Times;
  /** A sandbox that nobody started ahead. */
  readonly coldSandbox: Times;
  readonly warm: Times;
  /** Sandboxes that were opened, used and closed without a pool, and how long all took. */
  readonly many: { readonly count: number; readonly ms: number };
}) {
  const coldRunMs = median(rounds.coldRun);
  const warmMs = median(rounds.warm);
  return {
    coldRunMs: ofThree(coldRunMs),
    warmMs: ofThree(warmMs),
    warmRatio: rounded(warmMs / coldRunMs),
    coldSandboxMs: ofThree(median(rounds.coldSandbox)),
    coldPerSecond: ofThree(rounds.many.count / (rounds.many.ms / 1000)),
  };
}

/** One workspace over a large repository in one container, and the same container without it, right after. */
export interface WorkspaceRound {
  readonly worktreeMs: number;
  readonly withMs: number;
  readonly withoutMs: number;
  /** Within `withMs`: the workspace alone. */
  readonly createMs: number;
  readonly writeMs: number;
  readonly harvestMs: number;
  readonly removeMs: number;
  readonly bytes: number;
}

/**
 * What a workspace costs: what it adds to the start of a container (the median of differences within a round), its
 * first write and the reading of its patch.
 */
export function workspaceFigures(rounds: readonly WorkspaceRound[]) {
  const of = (time: (round: WorkspaceRound) => number) => median(rounds.map(time));
  const addedMs = of(({ withMs, withoutMs }) => withMs - withoutMs);
  const overlayMs = addedMs + of(({ writeMs }) => writeMs) + of(({ harvestMs }) => harvestMs);
  const worktreeMs = of((round) => round.worktreeMs);
  return {
    worktreeMs: ofThree(worktreeMs),
    overlayMs: ofThree(overlayMs),
    workspaceRatio: ofThree(overlayMs / worktreeMs),
    bytesPerWorkspace: Math.round(of(({ bytes }) => bytes)),
    workspaceParts: {
      addedMs: ofThree(addedMs),
      createMs: ofThree(of(({ createMs }) => createMs)),
      writeMs: ofThree(of(({ writeMs }) => writeMs)),
      harvestMs: ofThree(of(({ harvestMs }) => harvestMs)),
      removeMs: ofThree(of(({ removeMs }) => removeMs)),
    },
  };
}

/** A tool call beside an exec of the engine that does the same. */
export function toolFigures(rounds: { readonly exec: Times; readonly toolCall: Times }) {
  const [execMs, toolCallMs] = [median(rounds.exec), median(rounds.toolCall)];
  return {
    execMs: ofThree(execMs),
    toolCallMs: ofThree(toolCallMs),
    toolRatio: rounded(toolCallMs / execMs),
  };
}

/** Memory that many containers take, bytes. */
export interface HeldMemory {
  readonly containers: number;
  /** What the machine could still give out, before the first and with all of them. */
  readonly availableBefore: number;
  readonly availableWith: number;
  /** Of some of them: what the kernel charges the container for, what its processes and its shim have for themselves. */
  readonly samples: readonly { readonly charged: number; readonly own: number; readonly shim: number }[];
  readonly startMs: number;
}

export function heldFigures(held: HeldMemory) {
  const { containers, samples } = held;
  const inMib = (bytes: number) => Math.round((bytes / 1024 / 1024) * 10) / 10;
  return {
    containers,
    mibEach: inMib((held.availableBefore - held.availableWith) / containers),
    chargedMib: inMib(median(samples.map(({ charged }) => charged))),
    ownMib: inMib(median(samples.map(({ own }) => own))),
    shimMib: inMib(median(samples.map(({ shim }) => shim))),
    startedPerSecond: ofThree(containers / (held.startMs / 1000)),
  };
}

/** The start of attempts that share what a setup brought, beside attempts of a repository without one. */
export function setupFigures(measured: {
  readonly mib: number;
  readonly runs: number;
  /** Of the attempt that had to wait for it. */
  readonly firstMs: number;
  readonly later: Times;
  readonly without: Times;
}) {
  const [laterMs, withoutMs] = [median(measured.later), median(measured.without)];
  return {
    mib: measured.mib,
    attempts: measured.later.length + 1,
    runs: measured.runs,
    firstMs: ofThree(measured.firstMs),
    laterMs: ofThree(laterMs),
    withoutMs: ofThree(withoutMs),
    ratio: rounded(laterMs / withoutMs),
  };
}

/** Bytes by name of a file of /proc whose lines are `Name:  123 kB`. Fails where there is no such line. */
export function kernelBytes(text: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`the kernel says nothing of ${name}`);
  return Number(value) * 1024;
}

/** Places of `count` among `all`, spread evenly, the first among them. */
export function spread(all: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => Math.floor((at * all) / count));
}
