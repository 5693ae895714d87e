import { describe, expect, it } from 'vitest';
import type { GraphRow } from '../../../src/domain/graph.ts';
import { backoffMs, decide } from '../../../src/scheduling/decide.ts';

const limits = { taskParallel: 2, retries: 2, deaths: 3 };
const now = 1_000_000;

function row(index: number, change: Partial<GraphRow> = {}): GraphRow {
  return {
    id: `r${index}`,
    row: index,
    status: 'waiting',
    dependsOn: [],
    waitsFor: 'success',
    kind: 'agent',
    complexity: 1,
    failures: 0,
    deaths: 0,
    failure: null,
    notBefore: null,
    lastAttempt: null,
    ...change,
  };
}

describe('decide', () => {
  it('settles an empty plan as succeeded', () => {
    expect(decide([], limits, now)).toEqual([{ type: 'settle', outcome: 'succeeded' }]);
  });

  it('starts the heaviest remaining path first, within the limit', () => {
    const rows = [row(0), row(1, { complexity: 3 }), row(2), row(3, { dependsOn: ['r2'], complexity: 9 })];
    expect(decide(rows, limits, now)).toEqual([
      { type: 'start', id: 'r2' },
      { type: 'start', id: 'r1' },
    ]);
  });

  it('counts live rows against the limit', () => {
    const rows = [row(0, { status: 'running', lastAttempt: 'running' }), row(1), row(2)];
    expect(decide(rows, limits, now)).toEqual([{ type: 'start', id: 'r1' }]);
  });

  it('tries a transient failure again after a pause, and says when to look', () => {
    const failure = { code: 'model_unavailable', detail: '503' } as const;
    const rows = [row(0, { status: 'running', lastAttempt: 'failed', failures: 1, failure })];
    expect(decide(rows, limits, now)).toEqual([
      { type: 'retry', id: 'r0', notBefore: now + 1000 },
      { type: 'wake', at: now + 1000 },
    ]);
  });

  it('starts a row whose pause is over', () => {
    expect(decide([row(0, { notBefore: now })], limits, now)).toEqual([{ type: 'start', id: 'r0' }]);
  });

  it('gives a transient failure up after its retries', () => {
    const failure = { code: 'model_unavailable', detail: '503' } as const;
    const rows = [row(0, { status: 'running', lastAttempt: 'failed', failures: 3, failure })];
    expect(decide(rows, limits, now)).toEqual([
      { type: 'fail', id: 'r0', failure },
      { type: 'settle', outcome: 'failed' },
    ]);
  });

  it('gives a permanent failure up at once and settles as partial when others succeeded', () => {
    const failure = { code: 'command_failed', detail: 'exit 2' } as const;
    const rows = [
      row(0, { status: 'running', lastAttempt: 'failed', failures: 1, failure }),
      row(1, { status: 'succeeded' }),
    ];
    expect(decide(rows, limits, now)).toEqual([
      { type: 'fail', id: 'r0', failure },
      { type: 'settle', outcome: 'partial' },
    ]);
  });

  it('starts a row again whose worker died, without a pause and whatever it failed before', () => {
    const rows = [row(0, { status: 'running', lastAttempt: 'lost', failures: 2, deaths: 1 })];
    expect(decide(rows, limits, now)).toEqual([
      { type: 'retry', id: 'r0', notBefore: now },
      { type: 'start', id: 'r0' },
    ]);
  });

  it('gives a row up that killed three workers', () => {
    const rows = [row(0, { status: 'running', lastAttempt: 'lost', deaths: 3 })];
    expect(decide(rows, limits, now)).toEqual([
      {
        type: 'fail',
        id: 'r0',
        failure: { code: 'worker_lost', detail: '3 workers died while they worked on it' },
      },
      { type: 'settle', outcome: 'failed' },
    ]);
  });

  it('skips what depends on a failure, by name, through the whole graph', () => {
    const failure = { code: 'command_failed', detail: 'exit 2' } as const;
    const rows = [
      row(0, { status: 'failed', failure }),
      row(1, { dependsOn: ['r0'] }),
      row(2, { dependsOn: ['r1'] }),
    ];
    const skip = (id: string, on: number) => ({
      type: 'skip',
      id,
      failure: { code: 'command_failed', detail: `row ${on}, which it depends on, did not succeed` },
    });
    expect(decide(rows, limits, now)).toEqual([
      skip('r1', 1),
      skip('r2', 2),
      { type: 'settle', outcome: 'failed' },
    ]);
  });

  it.each([
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [6, 30_000],
    [50, 30_000],
  ])('pauses after failure %i for %i ms', (failures, ms) => {
    expect(backoffMs(failures)).toBe(ms);
  });
});
