import { describe, expect, it } from 'vitest';
import type { CallFailure } from '../../../src/inference/call-failure.ts';
import { retryDelay } from '../../../src/inference/retry-schedule.ts';

const failure = (change: Partial<CallFailure> = {}): CallFailure => ({
  code: 'model_unavailable',
  detail: 'x',
  retryable: true,
  retryAfterMs: null,
  charged: 'no',
  ...change,
});

describe('retryDelay', () => {
  it.each([
    ['waits half the first delay at least', failure(), 1, 0, 250],
    ['doubles the delay', failure(), 2, 0, 500],
    ['spreads over the other half', failure(), 2, 0.5, 750],
    ['gives up after two further tries', failure(), 3, 0, null],
    ['never tries what is final', failure({ retryable: false }), 1, 0, null],
    ['waits as long as the server says, above a minute too', failure({ retryAfterMs: 90_000 }), 1, 0, 90_000],
    ['spreads after what the server says, never before', failure({ retryAfterMs: 90_000 }), 1, 0.5, 101_250],
    ['does not wait longer than five minutes', failure({ retryAfterMs: 300_001 }), 1, 0, null],
  ])('%s', (_, what, failures, random, delay) => {
    expect(retryDelay(what, failures, random)).toBe(delay);
  });
});
