import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PooledKind, type PoolState, planPool } from '../../../../src/sandbox/pool/pool-plan.ts';

const time = fc.integer({ min: 0, max: 200 });
const kindsOf = (keys: string[]) =>
  fc.tuple(
    ...keys.map((key) =>
      fc.record<PooledKind>({
        key: fc.constant(key),
        wanted: fc.integer({ min: 0, max: 6 }),
        over: fc.boolean(),
        seenAt: time,
        notBefore: time,
      }),
    ),
  );
const state: fc.Arbitrary<PoolState> = fc
  .record({
    now: time,
    idleMs: fc.integer({ min: 1, max: 100 }),
    min: fc.integer({ min: 0, max: 6 }),
    max: fc.integer({ min: 0, max: 6 }),
    kinds: kindsOf(['a', 'b', 'c']),
    slots: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(time))),
  })
  .map(({ now, idleMs, min, max, kinds, slots }) => ({
    now,
    limits: { min, max, idleMs },
    kinds,
    sandboxes: slots.slice(0, max).map(([key, readyAt], id) => ({
      id,
      key,
      readyAt: readyAt === null ? null : Math.min(readyAt, now),
    })),
  }));

/** What a kind is worth to anybody now: what is asked for, or kept in any case. */
function targetOf({ now, limits, kinds }: PoolState, key: string): number {
  const kind = kinds.find((one) => one.key === key);
  if (kind === undefined) return 0;
  const wanted = !kind.over && now < kind.seenAt + limits.idleMs ? kind.wanted : 0;
  const last = kinds.every((other) => other.seenAt <= kind.seenAt);
  return Math.max(wanted, last ? Math.min(limits.min, limits.max) : 0);
}

describe('whatever a pool is in', () => {
  it('it never has more than its bound, and starts nothing that nobody may want', () => {
    fc.assert(
      fc.property(state, (at) => {
        const { start, drop } = planPool(at);
        expect(at.sandboxes.length - drop.length + start.length).toBeLessThanOrEqual(at.limits.max);
        for (const key of new Set(start)) {
          const there = at.sandboxes.filter((one) => one.key === key && !drop.includes(one.id));
          const started = start.filter((one) => one === key);
          expect(there.length + started.length).toBeLessThanOrEqual(targetOf(at, key));
        }
      }),
    );
  });

  it('it lets go only what is ready and either idle or beyond what is wanted', () => {
    fc.assert(
      fc.property(state, (at) => {
        const { drop } = planPool(at);
        expect(new Set(drop).size).toBe(drop.length);
        for (const { key, seenAt, over } of at.kinds) {
          const mine = at.sandboxes.filter((one) => one.key === key);
          const gone = mine.filter(({ id }) => drop.includes(id));
          const idle = gone.filter(
            ({ readyAt }) => over || at.now >= Math.max(seenAt, readyAt ?? Infinity) + at.limits.idleMs,
          );
          expect(gone.every(({ readyAt }) => readyAt !== null)).toBe(true);
          expect(gone.length - idle.length).toBeLessThanOrEqual(Math.max(0, mine.length - targetOf(at, key)));
        }
      }),
    );
  });

  it('it is content with its own plan once that is done, until the time it names', () => {
    fc.assert(
      fc.property(state, (at) => {
        const plan = planPool(at);
        const started = plan.start.map((key, index) => ({ id: 1000 + index, key, readyAt: null }));
        const left = at.sandboxes.filter(({ id }) => !plan.drop.includes(id));
        const kinds = at.kinds.filter(({ key }) => !plan.forget.includes(key));
        const next = planPool({ ...at, kinds, sandboxes: [...left, ...started] });
        expect({ start: next.start, drop: next.drop }).toEqual({ start: [], drop: [] });
        expect(plan.wakeAt ?? Infinity).toBeGreaterThan(at.now);
      }),
    );
  });
});
