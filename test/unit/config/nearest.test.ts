import { describe, expect, it } from 'vitest';
import { nearest } from '../../../src/config/nearest.ts';

describe('the nearest word', () => {
  it.each([
    ['reveiw', ['review', 'status'], 'review'],
    ['STATUS', ['review', 'status'], 'status'],
    ['fail-on', ['fail_on', 'enabled'], 'fail_on'],
    ['xyzzy', ['review', 'status'], null],
    ['anything', [], null],
  ])('to %s among %j is %s', (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected);
  });
});
