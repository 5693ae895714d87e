import { describe, expect, it } from 'vitest';
import type { EndedRow } from '../../../src/domain/graph.ts';
import { afterFailure } from '../../../src/scheduling/after-end.ts';
import { backoffMs } from '../../../src/scheduling/backoff.ts';
import { ended, limits, now } from './rows.ts';

const failed = (code: NonNullable<EndedRow['failure']>['code'], change: Partial<EndedRow> = {}) =>
  ended(0, { attempt: 'failed', failures: 1, failure: { code, detail: 'why' }, ...change });
const wide = { ...ended(0).matrix, writes: ['a.js', 'b.js'], inputs: ['a.js', 'b.js', 'c.js'] };
const decided = (row: EndedRow, used = 0) => afterFailure(row, limits, used, now);

describe('after a failed attempt', () => {
  it('tries a transient failure again after a pause', () => {
    expect(decided(failed('model_unavailable'))).toEqual({
      type: 'retry',
      id: 'r0',
      notBefore: now + backoffMs('r0', 1),
      counted: true,
    });
  });

  it('gives a transient failure up after its retries', () => {
    const failure = { code: 'model_unavailable', detail: 'why' };
    expect(decided(failed('model_unavailable', { failures: 3 }))).toEqual({
      type: 'fail',
      id: 'r0',
      failure,
    });
  });

  it('starts a row again whose worker died, without a pause and whatever it failed before', () => {
    const row = ended(0, { attempt: 'lost', failures: 2, deaths: 1 });
    expect(decided(row, 40)).toEqual({ type: 'retry', id: 'r0', notBefore: now, counted: false });
  });

  it('gives a row up that killed three workers', () => {
    const failure = { code: 'worker_lost', detail: '3 workers died while they worked on it' };
    expect(decided(ended(0, { attempt: 'lost', deaths: 3, fallbacks: ['b'] }))).toEqual({
      type: 'fail',
      id: 'r0',
      failure,
    });
  });

  it.each(['context_exceeded', 'turns_exhausted', 'wall_limit'] as const)(
    'splits what is too big: %s',
    (code) => {
      expect(decided(failed(code, { matrix: wide }))).toEqual({
        type: 'split',
        id: 'r0',
        feedback: '',
        children: [
          {
            title: 'Row 0 (part 1/2)',
            matrix: {
              ...wide,
              goal: `${wide.goal}\n\nPart 1 of 2 of this row: only "a.js".`,
              writes: ['a.js'],
              inputs: ['a.js', 'c.js'],
            },
            complexity: 4,
          },
          {
            title: 'Row 0 (part 2/2)',
            matrix: {
              ...wide,
              goal: `${wide.goal}\n\nPart 2 of 2 of this row: only "b.js".`,
              writes: ['b.js'],
              inputs: ['b.js', 'c.js'],
            },
            complexity: 4,
          },
        ],
      });
    },
  );

  it('takes a time-out for a failure like others where no turn was made, or nothing can be divided', () => {
    expect(decided(failed('wall_limit', { matrix: wide, progressed: false }))).toMatchObject({
      type: 'retry',
    });
    expect(decided(failed('wall_limit'))).toMatchObject({ type: 'retry' });
  });

  describe('that ran out of memory', () => {
    const ran = (memoryMib: number | null, change: Partial<EndedRow> = {}) =>
      decided(failed('memory_exhausted', { memoryMib, ...change }), 40);

    it('gives it twice the memory to the ceiling, whatever was tried before', () => {
      const enlarged = (from: number, memoryMib: number, weight: number) => ({
        ...{ type: 'enlarge', id: 'r0', memoryMib, weight },
        reason: `It ran out of ${from} MiB of memory and is tried again with ${memoryMib} MiB.`,
      });
      expect(ran(null)).toEqual(enlarged(1024, 2048, 2));
      expect(ran(null, { failures: 3 })).toEqual(enlarged(1024, 2048, 2));
      expect(ran(2048)).toEqual(enlarged(2048, 4096, 4));
      expect(ran(3000)).toEqual(enlarged(3000, 4096, 4));
    });

    it('gives it up at the ceiling, with the reason, or asks the next agent', () => {
      expect(ran(4096)).toEqual({
        type: 'fail',
        id: 'r0',
        failure: {
          code: 'memory_ceiling',
          detail:
            'why\nIt ran out of 4096 MiB, and the operator allows no more than 4096 MiB (`sandbox.memory_ceiling_mib`).',
        },
      });
      expect(ran(4096, { fallbacks: ['b'] })).toMatchObject({ type: 'fallback', agent: 'b' });
    });
  });

  it('splits to the depth that is allowed', () => {
    expect(decided(failed('context_exceeded', { matrix: wide, depth: 3 }))).toMatchObject({ type: 'fail' });
  });

  it('runs a row again whose patch failed its checks, then splits it, then gives it up', () => {
    expect(decided(failed('verification_failed', { matrix: wide, base: 'b' }))).toEqual({
      ...{ type: 'rerun', id: 'r0', cause: 'verification', feedback: 'why', base: 'b', after: [] },
    });
    const twice = { verificationReruns: 1 };
    expect(decided(failed('verification_failed', { matrix: wide, ...twice }))).toMatchObject({
      type: 'split',
      feedback: 'why',
    });
    expect(decided(failed('verification_failed', twice))).toMatchObject({ type: 'fail' });
  });

  it('does neither where the operator wants no such re-run', () => {
    const row = failed('verification_failed', { matrix: wide });
    expect(afterFailure(row, { ...limits, verificationReruns: 0 }, 0, now)).toMatchObject({ type: 'fail' });
  });

  it('asks the next agent where one has failed for good, and none for what no agent can mend', () => {
    const fallbacks = ['b', 'c'];
    const next = { type: 'fallback', id: 'r0', agent: 'b', rest: ['c'] };
    expect(decided(failed('model_nonsense', { fallbacks }))).toEqual(next);
    expect(decided(failed('model_timeout', { fallbacks, failures: 3 }))).toEqual(next);
    expect(decided(failed('context_exceeded', { fallbacks }))).toEqual(next);
    expect(decided(failed('budget_exhausted', { fallbacks }))).toMatchObject({ type: 'fail' });
    expect(decided(failed('cancelled', { fallbacks }))).toMatchObject({ type: 'fail' });
    // Whoever comes next would meet the same.
    expect(decided(failed('setup_failed', { fallbacks }))).toMatchObject({ type: 'fail' });
    expect(decided(failed('image_refused', { fallbacks }))).toMatchObject({ type: 'fail' });
  });

  it('names an attempt that ended without a word', () => {
    expect(decided(ended(0, { attempt: 'failed', failures: 3 }))).toEqual({
      type: 'fail',
      id: 'r0',
      failure: { code: 'internal', detail: 'its attempt ended without a result' },
    });
  });
});

describe('the pause before a retry', () => {
  it.each([
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [6, 30_000],
    [50, 30_000],
  ])('is after failure %i between half of %i ms and all of it, and differs between rows', (failures, ms) => {
    const pauses = Array.from({ length: 200 }, (_, index) => backoffMs(`row ${index}`, failures));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(ms / 2);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(ms);
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(ms * 0.4);
    expect(backoffMs('row 7', failures)).toBe(pauses[7]);
  });
});
