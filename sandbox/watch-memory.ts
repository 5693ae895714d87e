import { readFileSync } from 'node:fs';
import { cameToLimit, memoryState, oomKills, usedBytes } from './cgroup-memory.ts';

/** Between looks, ms: short at first, for most programs are over soon. One look takes some 0.1 ms. */
const firstLookMs = 10;
const lookMs = 100;

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
  const look = () => {
    peak = Math.max(peak ?? 0, usedBytes(read) ?? 0);
  };
  const lookIn = (ms: number) => {
    timer = setTimeout(() => {
      look();
      lookIn(Math.min(ms * 2, lookMs));
    }, ms);
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
