import { describe, expect, it } from 'vitest';
import { crashes } from '../../chaos/storm/problems.ts';
import { passed, type StormResult } from '../../chaos/storm/result.ts';
import type { Life } from '../../chaos/storm/supervisor.ts';

const life: Life = {
  slot: 'serve-1',
  role: 'serve',
  pid: 42,
  modelKey: 'k',
  startedAt: 0,
  readyAt: null,
  endedAt: 1500,
  end: 'itself',
  code: 1,
};
const away = [{ outage: 'postgres fast', from: 1000, to: 2000 } as const];

describe('a process that ended by itself', () => {
  it.each([
    ['is a problem', life, [], 1],
    ['is none while it started without a database', life, away, 0],
    ['is one when it was ready, database or not', { ...life, readyAt: 900 }, away, 1],
    [
      'is none either where it takes long to see that the database was away',
      { ...life, endedAt: 60_000 },
      away,
      0,
    ],
    [
      'is one where it began after the database came back',
      { ...life, startedAt: 2001, endedAt: 3000 },
      away,
      1,
    ],
    ['is one where it ended before the database went', { ...life, endedAt: 999 }, away, 1],
    [
      'is one while only Docker was away',
      life,
      [{ outage: 'docker restart', from: 1000, to: 2000 } as const],
      1,
    ],
    ['is no such thing when it was killed', { ...life, end: 'killed' as const }, [], 0],
  ])('%s', (_, one, outages, problems) => {
    expect(crashes([one], outages)).toHaveLength(problems);
  });
});

describe('a storm passes', () => {
  const result: StormResult = {
    kills: 100,
    tasks: 12,
    lost: 0,
    duplicatePublications: 0,
    stuckChecks: 0,
    orphanSandboxes: 0,
    modelTurnsPaidTwice: 5,
    modelTurnsInFlight: 5,
    wallMs: 1,
  };

  it('when nothing is wrong, with as many turns paid twice as were in flight', () => {
    expect(passed({ result, problems: [] })).toBe(true);
  });

  it.each([
    [{ lost: 1 }, []],
    [{ duplicatePublications: 1 }, []],
    [{ stuckChecks: 1 }, []],
    [{ orphanSandboxes: 1 }, []],
    [{ modelTurnsPaidTwice: 6 }, []],
    [{}, ['serve-1 ended by itself']],
  ])('not with %o and the problems %o', (change, problems) => {
    expect(passed({ result: { ...result, ...change }, problems })).toBe(false);
  });
});
