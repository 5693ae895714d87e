import { describe, expect, it } from 'vitest';
import { mostAtOnce, stagesOf, summarise } from '../../demo/measure.ts';

describe('the most at once', () => {
  it.each([
    ['nothing', [], 0],
    [
      'one after the other',
      [
        ['a', 0, 10],
        ['b', 10, 20],
      ],
      1,
    ],
    [
      'two of three overlap at a time',
      [
        ['a', 0, 10],
        ['b', 5, 15],
        ['c', 12, 20],
      ],
      2,
    ],
    [
      'one inside another',
      [
        ['a', 0, 10],
        ['b', 2, 3],
        ['c', 4, 5],
      ],
      2,
    ],
    [
      'calls of one sandbox count once',
      [
        ['a', 0, 10],
        ['a', 1, 9],
        ['b', 2, 3],
      ],
      2,
    ],
    [
      'all at the same moment',
      [
        ['a', 0, 5],
        ['b', 0, 5],
        ['c', 0, 5],
      ],
      3,
    ],
  ] as [string, [string, number, number][], number][])('is counted: %s', (_, calls, most) => {
    expect(mostAtOnce(calls.map(([owner, from, to]) => ({ owner, from, to })))).toBe(most);
  });
});

describe('stage times', () => {
  it('have median, greatest and sum', () => {
    expect(summarise('plan', [30, 10, 20, 40])).toEqual({
      stage: 'plan',
      count: 4,
      median: 20,
      max: 40,
      sum: 100,
    });
    expect(summarise('plan', [])).toEqual({ stage: 'plan', count: 0, median: 0, max: 0, sum: 0 });
  });

  it('leave out what did not come to its end', () => {
    const at = (ms: number) => new Date(ms);
    const stages = stagesOf(
      [{ receivedAt: at(0), createdAt: at(5), plannedAt: at(25), settledAt: at(90), finishedAt: null }],
      [
        { containerId: 'a', queuedAt: at(25), claimedAt: at(30), agentStartedAt: at(50), finishedAt: at(80) },
        { containerId: null, queuedAt: at(25), claimedAt: null, agentStartedAt: null, finishedAt: at(85) },
      ],
      [{ containerId: null, queuedAt: at(80), claimedAt: at(82), agentStartedAt: null, finishedAt: at(89) }],
    );
    expect(stages.map(({ stage, count, sum }) => [stage, count, sum])).toEqual([
      ['admit', 1, 5],
      ['plan', 1, 20],
      ['wait for a worker', 1, 5],
      ['start a sandbox', 1, 20],
      ['agent', 1, 30],
      ['merge and verify', 1, 7],
      ['publish', 0, 0],
    ]);
  });
});
