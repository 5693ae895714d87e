import { describe, expect, it } from 'vitest';
import { estimateUse } from '../../../src/domain/estimate.ts';
import { quotaParallel } from '../../../src/domain/quota.ts';

const rows = [
  { agent: 'fixer', maxTokens: 1000 },
  { agent: 'fixer', maxTokens: 1000 },
  { agent: 'other', maxTokens: 500 },
];
const price = (agent: string) => (agent === 'other' ? { input: 1, output: 4 } : null);

describe('what a plan will use', () => {
  it('is what rows of the same agents used on the mean', () => {
    const used = [
      { agent: 'fixer', rows: 4, tokens: 1000, costMicros: 40 },
      { agent: 'other', rows: 1, tokens: 70, costMicros: 7 },
      { agent: 'third', rows: 9, tokens: 9e9, costMicros: 9 },
    ];
    expect(estimateUse(rows, used, price)).toEqual({ tokens: 570, costMicros: 27, fromUse: 3, seen: 5 });
  });

  it('is all they may use where nothing is known, at the dearer price', () => {
    const none = { agent: 'other', rows: 0, tokens: 0, costMicros: 0 };
    expect(estimateUse(rows, [none], price)).toEqual({
      tokens: 2500,
      costMicros: 2000,
      fromUse: 0,
      seen: 0,
    });
  });
});

describe('agents that a quota feeds', () => {
  it.each([
    [1000, 300, 3],
    [100, 300, 1],
    [1000, 0, 1000],
  ])('of %i tokens a minute at %i each are %i', (quota, mean, most) => {
    expect(quotaParallel(quota, mean)).toBe(most);
  });
});
