import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/scheduling/decide.ts';
import { ended, endedState, limits, now, readyState } from './rows.ts';

const agents = (succeeded: number, total: number) => ({
  agents: { succeeded, total },
  integrations: { succeeded: 0, total: 0 },
});

describe('decide, of what can start', () => {
  it('settles an empty plan as succeeded', () => {
    expect(decide(readyState({ tally: agents(0, 0) }), limits, now)).toEqual([
      { type: 'settle', outcome: 'succeeded' },
    ]);
  });

  it('starts what it is given in that order, within the room there is', () => {
    const state = readyState({ ready: ['b', 'a', 'c'], live: 1, parallel: 3 });
    expect(decide(state, limits, now)).toEqual([
      { type: 'start', id: 'b' },
      { type: 'start', id: 'a' },
    ]);
  });

  it('says when to look again where a row pauses', () => {
    expect(decide(readyState({ ready: ['a'], nextStart: now + 7 }), limits, now)).toEqual([
      { type: 'start', id: 'a' },
      { type: 'wake', at: now + 7 },
    ]);
  });

  it('waits where attempts are live', () => {
    expect(decide(readyState({ live: 1 }), limits, now)).toEqual([]);
  });

  it.each([
    ['all of them succeeded', agents(3, 3), 'succeeded'],
    ['some did', agents(1, 3), 'partial'],
    ['none did', agents(0, 3), 'failed'],
    ['one of two merges failed', { ...agents(3, 3), integrations: { succeeded: 1, total: 2 } }, 'partial'],
    ['no merge succeeded', { ...agents(3, 3), integrations: { succeeded: 0, total: 2 } }, 'failed'],
  ])('settles where %s', (_, tally, outcome) => {
    expect(decide(readyState({ tally }), limits, now)).toEqual([{ type: 'settle', outcome }]);
  });
});

describe('decide, of rows that ended', () => {
  it('lets results count, whatever else failed', () => {
    const failure = { code: 'command_failed', detail: 'exit 2' } as const;
    const state = endedState([ended(0), ended(1, { attempt: 'failed', failures: 1, failure })]);
    expect(decide(state, limits, now)).toEqual([
      { type: 'complete', id: 'r0' },
      { type: 'fail', id: 'r1', failure },
    ]);
  });

  it('counts the retries that it grants at once against the budget of the task', () => {
    const failure = { code: 'model_timeout', detail: '' } as const;
    const rows = [0, 1, 2].map((index) => ended(index, { attempt: 'failed', failures: 1, failure }));
    expect(decide(endedState(rows, { retriesUsed: 38 }), limits, now)).toMatchObject([
      { type: 'retry', id: 'r0', counted: true },
      { type: 'retry', id: 'r1', counted: true },
      {
        type: 'fail',
        id: 'r2',
        failure: { detail: '\nNot tried again: the task has used its 40 retries.' },
      },
    ]);
  });

  it('leaves a second row that asks for more to the next look, which sees what the first was given', () => {
    const requested = [{ title: 't', goal: 'g', writes: ['x.js'], inputs: [], verification: 'v' }];
    const state = endedState([ended(0, { requested }), ended(1, { requested })]);
    expect(decide(state, limits, now)).toEqual([
      { type: 'complete', id: 'r0' },
      { type: 'fork', id: 'r0', rows: [], refused: [{ title: 't', reason: 'this task changes nothing' }] },
    ]);
  });
});
