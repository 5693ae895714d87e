import { describe, expect, it } from 'vitest';
import { type Hold, judgePaidTurns, type ModelCall, type WorkerKill } from '../../chaos/storm/paid-turns.ts';

const system = { role: 'system', content: 'You change code.' };
const prompt = (row: string, attempt: string) => ({
  role: 'user',
  content: `## Goal\n${row}\n\n## This run\nsubtask: ${row}\nattempt: ${attempt}\nsandbox: of-${attempt}`,
});
const reply = { role: 'assistant', content: 'a tool call' };

function call(row: string, turn: number, more: Partial<ModelCall> & { attempt?: string } = {}): ModelCall {
  const { attempt = 'a1', ...rest } = more;
  const past = Array.from({ length: turn }, (_, at) => [
    reply,
    { role: 'tool', content: `${attempt} ${at}` },
  ]);
  const messages = [system, prompt(row, attempt), ...past.flat()];
  return { key: 'one', startedAt: 10 + turn, answered: true, subtask: row, messages, ...rest };
}

const kill: WorkerKill = { key: 'one', pid: 100, at: 20 };
const hold = (subtask: string, more: Partial<Hold> = {}): Hold => ({
  subtask,
  pid: 100,
  claimedAt: 5,
  finishedAt: null,
  ...more,
});
const judge = (calls: ModelCall[], kills: WorkerKill[] = [], holds: Hold[] = []) =>
  judgePaidTurns(calls, kills, holds, new Map());

describe('turns of the model', () => {
  it('are paid once when each is answered once', () => {
    const calls = [call('x', 0), call('x', 1), call('y', 0)];
    expect(judge(calls)).toEqual({ paidTwice: 0, inFlight: 0, unexplained: [] });
  });

  it('are paid twice when another attempt of the row begins anew, though ids and answers of tools differ', () => {
    const again = { attempt: 'a2', key: 'two', startedAt: 30 };
    const calls = [call('x', 0), call('x', 1), call('x', 0, again), call('x', 1, again)];
    expect(judge(calls, [kill], [hold('x')])).toEqual({ paidTwice: 2, inFlight: 1, unexplained: [] });
  });

  it('are paid once when the attempt goes on from its last turn', () => {
    const calls = [
      call('x', 0),
      call('x', 1, { answered: false }),
      call('x', 1, { key: 'two', startedAt: 30 }),
    ];
    expect(judge(calls, [kill], [hold('x')])).toEqual({ paidTwice: 0, inFlight: 1, unexplained: [] });
  });

  it('are named when they were paid twice though no kill cut them off', () => {
    const calls = [call('x', 0), call('x', 0, { attempt: 'a2', startedAt: 30 })];
    expect(judge(calls, [kill], [hold('x', { finishedAt: 15 })])).toEqual({
      paidTwice: 1,
      inFlight: 0,
      unexplained: ['turn 1 of the row x'],
    });
  });

  it('are another conversation when the row runs again with what went wrong', () => {
    const told = [system, { role: 'user', content: 'x\n## What went wrong\na test' }];
    expect(judge([call('x', 0), { ...call('x', 0), messages: told }]).paidTwice).toBe(0);
  });
});

describe('what was in flight at a kill', () => {
  const calls = [call('x', 0), call('x', 1), call('y', 0), call('z', 0, { key: 'two' })];

  it.each([
    ['each row that the killed worker held', [hold('x'), hold('y')], 2],
    ['no row that another worker held', [hold('x', { pid: 7 }), hold('y', { pid: 7 })], 0],
    ['no row that was over before', [hold('x', { finishedAt: 19 }), hold('y', { finishedAt: 21 })], 1],
    ['no row whose agent had not asked anything yet', [hold('w')], 0],
    ['no row that was claimed later', [hold('x', { claimedAt: 25 })], 0],
  ] as const)('is %s', (_, holds, inFlight) => {
    expect(judge(calls, [kill], [...holds]).inFlight).toBe(inFlight);
  });

  it('is a plan that was asked for and not stored yet', () => {
    const messages = [system, { role: 'user', content: '## This run\ntask: t1' }];
    const planner: ModelCall = { key: 'one', startedAt: 10, answered: true, subtask: '', messages };
    const inFlight = (at: number | null) =>
      judgePaidTurns([planner], [kill], [], new Map([['t1', at]])).inFlight;
    expect([inFlight(null), inFlight(25), inFlight(15)]).toEqual([1, 1, 0]);
  });
});
