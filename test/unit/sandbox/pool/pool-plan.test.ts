import { describe, expect, it } from 'vitest';
import { type PooledKind, type PooledSandbox, planPool } from '../../../../src/sandbox/pool/pool-plan.ts';

const limits = { min: 0, max: 4, idleMs: 1000 };

function kind(key: string, wanted: number, change: Partial<PooledKind> = {}): PooledKind {
  return { key, wanted, over: false, seenAt: 0, notBefore: 0, ...change };
}

/** Sandboxes of a kind by their ages in order; null is being started. */
function pooled(key: string, firstId: number, ...readyAt: (number | null)[]): PooledSandbox[] {
  return readyAt.map((at, index) => ({ id: firstId + index, key, readyAt: at }));
}

const nothing = { start: [], drop: [], forget: [], wakeAt: null };

describe('a pool', () => {
  it('without work does nothing', () => {
    expect(planPool({ now: 5, limits: { ...limits, min: 2 }, kinds: [], sandboxes: [] })).toEqual(nothing);
  });

  it('starts what is wanted and not there yet, what was said last first, up to its bound', () => {
    const kinds = [kind('old', 3, { seenAt: 1 }), kind('new', 3, { seenAt: 2 })];
    const sandboxes = pooled('new', 1, 3, null);
    expect(planPool({ now: 4, limits, kinds, sandboxes })).toEqual({
      ...nothing,
      start: ['new', 'old'],
      wakeAt: 1002,
    });
  });

  it('lets an idle one go, the oldest first, down to the least of the kind seen last', () => {
    const kinds = [kind('old', 2, { seenAt: 1 }), kind('new', 2, { seenAt: 2 })];
    const sandboxes = [...pooled('old', 1, 10), ...pooled('new', 2, 20, 30, 1500)];
    const least = { ...limits, min: 2 };
    expect(planPool({ now: 2000, limits: least, kinds, sandboxes })).toEqual({ ...nothing, drop: [2, 1] });
  });

  it('keeps what is wanted for as long as that is said, and one more until it is idle', () => {
    const sandboxes = pooled('a', 1, 10, 20);
    const kinds = [kind('a', 1, { seenAt: 900 })];
    expect(planPool({ now: 1009, limits, kinds, sandboxes })).toEqual({ ...nothing, wakeAt: 1010 });
    expect(planPool({ now: 1010, limits, kinds, sandboxes })).toEqual({
      ...nothing,
      drop: [1],
      wakeAt: 1900,
    });
    expect(planPool({ now: 1899, limits, kinds, sandboxes: pooled('a', 2, 20) })).toEqual({
      ...nothing,
      wakeAt: 1900,
    });
    expect(planPool({ now: 1900, limits, kinds, sandboxes })).toEqual({ ...nothing, drop: [1, 2] });
  });

  it('lets go at once what nobody will ask for, and forgets its kind then', () => {
    const kinds = [kind('a', 0, { over: true, seenAt: 900 })];
    const sandboxes = pooled('a', 1, 10, null);
    expect(planPool({ now: 1000, limits, kinds, sandboxes })).toEqual({ ...nothing, drop: [1] });
    expect(planPool({ now: 1000, limits, kinds, sandboxes: [] })).toEqual({ ...nothing, forget: ['a'] });
  });

  it('makes room for what is wanted by what is not, and never by what is wanted', () => {
    const kinds = [kind('old', 2, { seenAt: 1 }), kind('new', 4, { seenAt: 2 })];
    const sandboxes = pooled('old', 1, 10, 20, 30, 40);
    expect(planPool({ now: 50, limits, kinds, sandboxes })).toMatchObject({
      start: ['new', 'new'],
      drop: [1, 2],
    });
  });

  it('waits after a failed start, and says when to look again', () => {
    const kinds = [kind('a', 2, { notBefore: 500 })];
    expect(planPool({ now: 499, limits, kinds, sandboxes: [] })).toEqual({ ...nothing, wakeAt: 500 });
    expect(planPool({ now: 500, limits, kinds, sandboxes: [] })).toEqual({ ...nothing, start: ['a', 'a'] });
  });

  it('starts nothing for a word that is too old, and forgets it', () => {
    const kinds = [kind('a', 2)];
    expect(planPool({ now: 1000, limits, kinds, sandboxes: [] })).toEqual({ ...nothing, forget: ['a'] });
  });
});
