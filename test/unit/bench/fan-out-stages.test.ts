import { describe, expect, it } from 'vitest';
import { measureFanOut } from '../../bench/fan-out-stages.ts';
import type { AttemptRow, FanOutRows } from '../../bench/read-fan-out.ts';

const at = (ms: number) => new Date(1_000_000 + ms);

/** Queued, claimed, agent started, finished. */
function attempt(id: string, times: readonly [number, number, number, number]): AttemptRow {
  const [queuedAt, claimedAt, agentStartedAt, finishedAt] = times.map(at) as [Date, Date, Date, Date];
  const kind = id === 'i' ? 'integrate' : 'agent';
  return {
    id,
    kind,
    title: id,
    status: 'succeeded',
    failure: null,
    queuedAt,
    claimedAt,
    agentStartedAt,
    finishedAt,
  };
}

/** Two subtasks, one after the other. */
const seen: FanOutRows = {
  task: {
    receivedAt: at(0),
    createdAt: at(5),
    plannedAt: at(100),
    settledAt: at(3530),
    finishedAt: at(4000),
    outcome: 'succeeded',
    failure: null,
  },
  subtasks: [
    { title: 'a', kind: 'agent', status: 'succeeded', failure: null },
    { title: 'b', kind: 'agent', status: 'succeeded', failure: null },
    { title: 'i', kind: 'integrate', status: 'succeeded', failure: null },
  ],
  attempts: [
    attempt('a', [110, 130, 230, 1430]),
    attempt('b', [1450, 1460, 1660, 3100]),
    attempt('i', [3110, 3120, 3130, 3500]),
  ],
};
const call = (owner: string, from: number, to: number) => ({
  attempt: owner,
  startedAt: at(from).getTime(),
  endedAt: at(to).getTime(),
});
const journal = [call('', 10, 90), call('a', 240, 1240), call('b', 1700, 2700)];
const shape = { subtasks: 2, parallel: 1, calls: 1, idealMs: 2000 };

describe('the figures of a fan-out', () => {
  it('tell wall from ideal, and where the rest went', () => {
    const result = measureFanOut(seen, journal, shape);
    const { stages, ...figures } = result;
    expect(figures).toEqual({
      wallMs: 3430,
      ratio: 1.715,
      totalMs: 4000,
      maxConcurrent: 1,
      attemptMs: [1300, 1640],
    });
    expect(Object.fromEntries(Object.entries(stages).map(([name, { sumMs }]) => [name, sumMs]))).toEqual({
      admit: 5,
      plan: 95,
      advance: 30,
      queue: 30,
      start: 300,
      model: 2000,
      exec: 50,
      store: 590,
      integrate: 400,
      settle: 30,
      publish: 470,
    });
    expect(stages['start']).toEqual({ per: 'attempt', medianMs: 100, maxMs: 200, sumMs: 300, share: 0.15 });
    // With one worker, the stages of the attempts are all of the time up to the last one's end.
    const shares = Object.values(stages).map(({ per, share }) => (per === 'attempt' ? share : 0));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1.5, 3);
  });

  it('are refused where a subtask failed, an attempt was tried again or a call is missing', () => {
    const failure = { code: 'sandbox_died', detail: 'out of memory' } as const;
    const [first, ...others] = seen.attempts;
    const again = { ...seen, attempts: [{ ...(first as AttemptRow), status: 'failed', failure }, ...others] };
    expect(() => measureFanOut(again, journal, shape)).toThrow(
      'an attempt of a: failed (sandbox_died: out of memory)',
    );
    const failed = { ...seen, subtasks: seen.subtasks.map((row) => ({ ...row, status: 'failed', failure })) };
    expect(() => measureFanOut(failed, journal, shape)).toThrow('b: failed (sandbox_died: out of memory)');
    expect(() => measureFanOut(seen, journal, { ...shape, subtasks: 3 })).toThrow(
      '2 subtasks were planned, not 3',
    );
    expect(() => measureFanOut(seen, journal.slice(0, 2), shape)).toThrow('b made 0 model calls, not 1');
  });
});
