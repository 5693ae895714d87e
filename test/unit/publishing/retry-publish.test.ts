import { describe, expect, it } from 'vitest';
import { afterFailedPublish } from '../../../src/publishing/retry-publish.ts';

describe('after a failed publish', () => {
  it.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [9, 256_000],
    [10, 300_000],
    [29, 300_000],
  ])('try %i in a row is followed by a pause of %i ms', (tries, pauseMs) => {
    expect(afterFailedPublish('publishing', tries)).toEqual({ kind: 'pause', pauseMs });
  });

  it('what is over is given up after thirty tries', () => {
    expect(afterFailedPublish('publishing', 30)).toEqual({ kind: 'give_up', pauseMs: 300_000 });
  });

  it.each(['held', 'planning', 'running'] as const)('a task that is %s is never given up', (phase) => {
    expect(afterFailedPublish(phase, 10_000)).toEqual({ kind: 'pause', pauseMs: 300_000 });
  });

  it('nothing is asked for on behalf of a task that is finished', () => {
    expect(afterFailedPublish('finished', 1)).toEqual({ kind: 'leave' });
  });
});
