/** Decides what a pool of sandboxes starts and what it lets go. Times are milliseconds of one clock. */

export interface PoolLimits {
  /** Kept of the kind that was seen last, wanted or not. */
  readonly min: number;
  /** Of all kinds together, those included that are being started: so the memory of a pool is bounded, too. */
  readonly max: number;
  readonly idleMs: number;
}

export interface PooledKind {
  readonly key: string;
  /** How many will be asked for next, as was said last, less those taken since. */
  readonly wanted: number;
  /** Nobody will ask for another: what there is goes at once. */
  readonly over: boolean;
  /** When it was last said to be wanted, or one was taken: after the idle time the word is forgotten. */
  readonly seenAt: number;
  /** Nothing is started before: a start failed. */
  readonly notBefore: number;
}

export interface PooledSandbox {
  readonly id: number;
  readonly key: string;
  /** Null: it is being started. */
  readonly readyAt: number | null;
}

export interface PoolState {
  readonly now: number;
  readonly limits: PoolLimits;
  readonly kinds: readonly PooledKind[];
  /** What nobody has taken. */
  readonly sandboxes: readonly PooledSandbox[];
}

export interface PoolPlan {
  /** Keys, one for each start, in the order of starting. */
  readonly start: readonly string[];
  /** Ids of sandboxes. */
  readonly drop: readonly number[];
  /** Keys of kinds that nothing is left to be known of. */
  readonly forget: readonly string[];
  /** When the answer may be another though nothing happened; null: never. */
  readonly wakeAt: number | null;
}

const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/** For how long nothing of a kind is started, ms, after so many failures before. */
export function pauseAfter(failures: number): number {
  return Math.min(firstPauseMs * 2 ** Math.min(failures, 10), longestPauseMs);
}

/**
 * What is wanted is started, the kind seen last first, as far as there is room, and kept for as long as it is. One more
 * than is wanted goes once nobody took it for the idle time (a count is a guess), or its room is needed. Of the kind
 * seen last the least number stays in any case. One that is wanted is never let go for another.
 */
export function planPool({ now, limits, kinds, sandboxes }: PoolState): PoolPlan {
  const newestFirst = kinds.toSorted((a, b) => b.seenAt - a.seenAt);
  const drop = new Set<number>();
  const surplus: number[] = [];
  const start: string[] = [];
  const forget: string[] = [];
  const wakes: number[] = [];
  const due: { key: string; count: number }[] = [];

  newestFirst.forEach((kind, index) => {
    const mine = sandboxes.filter(({ key }) => key === kind.key);
    const least = index === 0 ? Math.min(limits.min, limits.max) : 0;
    const expiresAt = kind.seenAt + limits.idleMs;
    const wanted = !kind.over && now < expiresAt ? kind.wanted : 0;
    const target = Math.max(wanted, least);
    const missing = target - mine.length;
    if (missing > 0 && now >= kind.notBefore) due.push({ key: kind.key, count: missing });
    if (missing > 0 && now < kind.notBefore) wakes.push(kind.notBefore);
    if (mine.length === 0 && target === 0 && (kind.over || now >= expiresAt)) forget.push(kind.key);

    if (wanted > 0 && mine.length > least) wakes.push(expiresAt);
    // Of the oldest, as many as there are beyond what is wanted.
    const beyond = mine
      .flatMap(({ id, readyAt }) => (readyAt === null ? [] : [{ id, readyAt }]))
      .toSorted((a, b) => a.readyAt - b.readyAt)
      .slice(0, Math.max(0, mine.length - target));
    for (const { id, readyAt } of beyond) {
      const idleAt = kind.over ? now : readyAt + limits.idleMs;
      if (idleAt <= now) drop.add(id);
      else wakes.push(idleAt);
    }
    surplus.unshift(...beyond.map(({ id }) => id).filter((id) => !drop.has(id)));
  });

  let room = limits.max - (sandboxes.length - drop.size);
  for (const { key, count } of due) {
    for (let n = 0; n < count; n += 1) {
      if (room <= 0) {
        const makesRoom = surplus.shift();
        if (makesRoom === undefined) break;
        drop.add(makesRoom);
        room += 1;
      }
      start.push(key);
      room -= 1;
    }
  }
  return { start, drop: [...drop], forget, wakeAt: wakes.length === 0 ? null : Math.min(...wakes) };
}
