import { readFileSync } from 'node:fs';

/** What the kernel says of processes. Linux alone. */

/** Kernel ticks are hundredths of a second wherever Node runs. */
const tickMs = 10;
const pageBytes = 4096;

export interface Usage {
  /** Of the process and of the children it has waited for. */
  readonly cpuMs: number;
  readonly rssMiB: number;
}

/** Null: there is no such process any more. */
export function usageOf(pid: number): Usage | null {
  try {
    // The name in parentheses may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
    return { cpuMs: ticks * tickMs, rssMiB: ((fields[21] ?? 0) * pageBytes) / 1024 ** 2 };
  } catch {
    return null;
  }
}

/** Asks every `everyMs` what those processes use, until it is stopped. */
export function watchProcesses(pids: readonly number[], everyMs: number) {
  const series = new Map<number, (Usage & { readonly at: number })[]>(pids.map((pid) => [pid, []]));
  const look = () => {
    for (const [pid, list] of series) {
      const usage = usageOf(pid);
      if (usage !== null) list.push({ ...usage, at: performance.now() });
    }
  };
  look();
  // A benchmark that fails must end.
  const timer = setInterval(look, everyMs).unref();
  return {
    stop: (): ReadonlyMap<number, readonly (Usage & { readonly at: number })[]> => {
      clearInterval(timer);
      look();
      return series;
    },
  };
}
