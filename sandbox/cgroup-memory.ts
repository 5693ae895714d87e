/**
 * What the kernel says of the memory of a container, as it is seen inside, under either version of control groups.
 * Used on both sides, so it imports nothing.
 */

export interface MemoryState {
  /**
   * In use and not to be had back: anonymous and shared memory, scratch files, the kernel's own. The cache of files
   * is left out, since it goes as soon as room is wanted. Bytes.
   */
  readonly usedBytes: number | null;
  /** The most that was ever in use, the cache of files included; null where the kernel does not keep it. Bytes. */
  readonly highestBytes: number | null;
  /** Null: there is none. Bytes. */
  readonly limitBytes: number | null;
  /** Processes that the kernel has killed for want of memory, the container's or the machine's. */
  readonly oomKills: number | null;
}

const v1 = '/sys/fs/cgroup/memory';
const v2 = '/sys/fs/cgroup';

/** Files that {@link memoryState} asks for; those of the other version do not exist. */
export const memoryFiles = {
  v1: {
    used: `${v1}/memory.usage_in_bytes`,
    highest: `${v1}/memory.max_usage_in_bytes`,
    limit: `${v1}/memory.limit_in_bytes`,
    stat: `${v1}/memory.stat`,
    events: `${v1}/memory.oom_control`,
  },
  v2: {
    used: `${v2}/memory.current`,
    highest: `${v2}/memory.peak`,
    limit: `${v2}/memory.max`,
    stat: `${v2}/memory.stat`,
    events: `${v2}/memory.events`,
  },
} as const;

/** `read` gives the text of a file, null where there is none. What is missing is null. */
export function memoryState(read: (file: string) => string | null): MemoryState {
  const files = read(memoryFiles.v2.used) === null ? memoryFiles.v1 : memoryFiles.v2;
  return {
    usedBytes: usedBytes(read),
    highestBytes: number(read(files.highest)),
    limitBytes: number(read(files.limit)),
    oomKills: oomKills(read),
  };
}

/**
 * Whether the container ever came to its limit. Where it did not, a process of it was killed because the whole machine
 * had no memory left; more for the container would make that worse. True where the kernel does not say.
 */
export function cameToLimit({ highestBytes, limitBytes }: MemoryState): boolean {
  // The last page that did not fit may have been a huge one.
  return highestBytes === null || limitBytes === null || highestBytes > 0.9 * limitBytes;
}

/** The part of {@link memoryState} that changes from moment to moment. */
export function usedBytes(read: (file: string) => string | null): number | null {
  const inV2 = read(memoryFiles.v2.used);
  const used = number(inV2 ?? read(memoryFiles.v1.used));
  if (used === null) return null;
  const stat = read((inV2 === null ? memoryFiles.v1 : memoryFiles.v2).stat) ?? '';
  return unreclaimable(used, (name) => entry(stat, name));
}

export function oomKills(read: (file: string) => string | null): number | null {
  return entry(read(memoryFiles.v2.events) ?? read(memoryFiles.v1.events) ?? '', 'oom_kill');
}

/** What is in use less what the kernel can have back; `stat` gives an entry of `memory.stat` of either version. */
export function unreclaimable(used: number, stat: (name: string) => number | null): number {
  const of = (name: string) => stat(`total_${name}`) ?? stat(name) ?? 0;
  // Counters are brought up to date one by one: their sum may be ahead of the whole.
  return Math.max(0, used - of('active_file') - of('inactive_file') - of('slab_reclaimable'));
}

function entry(text: string, name: string): number | null {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? null : number(line.slice(name.length + 1));
}

/** Null also for `max`, and for what stands for no limit in version 1. */
function number(text: string | null): number | null {
  if (text === null || !/^\d+\s*$/.test(text)) return null;
  const value = Number(text);
  return value < 2 ** 50 ? value : null;
}
