import { readFileSync } from 'node:fs';
import { cameToLimit, memoryState, oomKills, usedBytes } from './cgroup-memory.ts';

/**
 * Between looks, ms: short at first, for most programs are over soon, and while memory moves; ever longer while it does
 * not. A look takes 0.1 to 1 ms, and the CPU time of a container is how the worker tells a program that hangs.
 */
const firstLookMs = 10;
const movingMs = 100;
const stillMs = 5000;
/** Part of what was in use by which a change counts. */
const moves = 1 / 16;

export interface MemoryUse {
  /** See `peakMemoryBytes` of src/sandbox/port.ts. */
  readonly peakMemoryBytes: number | null;
  readonly outOfMemory: boolean;
}

/** Looks at the memory of the whole container from now until it is asked what it saw. */
export function watchMemory(): () => MemoryUse {
  const killsBefore = oomKills(read);
  let peak = usedBytes(read);
  let timer: NodeJS.Timeout | undefined;
  let last = peak ?? 0;
  const look = (): boolean => {
    const used = usedBytes(read) ?? 0;
    const moved = Math.abs(used - last) > last * moves;
    last = used;
    peak = Math.max(peak ?? 0, used);
    return moved;
  };
  const lookIn = (ms: number) => {
    timer = setTimeout(() => lookIn(Math.min(ms * 2, look() ? movingMs : stillMs)), ms);
    timer.unref();
  };
  if (peak !== null) lookIn(firstLookMs);
  return () => {
    clearTimeout(timer);
    if (peak !== null) look();
    const state = memoryState(read);
    const outOfMemory = (state.oomKills ?? 0) > (killsBefore ?? 0) && cameToLimit(state);
    // Whatever was seen of it, all of it was in use at that moment.
    return { peakMemoryBytes: outOfMemory ? (state.limitBytes ?? peak) : peak, outOfMemory };
  };
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
