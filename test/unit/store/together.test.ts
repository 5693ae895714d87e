import { describe, expect, it } from 'vitest';
import { doTogether } from '../../../src/store/together.ts';

describe('work that is done together', () => {
  it('takes what is asked for meanwhile at once, and answers each by its place', async () => {
    const seen: [string, readonly number[]][] = [];
    const ask = doTogether(async (key: string, requests: readonly number[]) => {
      seen.push([key, requests]);
      await Promise.resolve();
      return requests.map((request) => request * 2);
    });
    const answers = await Promise.all([ask('a', 1), ask('a', 2), ask('b', 3), ask('a', 4)]);
    expect({ answers, seen }).toEqual({
      answers: [2, 4, 6, 8],
      seen: [
        ['a', [1]],
        ['b', [3]],
        ['a', [2, 4]],
      ],
    });
  });

  it('takes no more than it may at once', async () => {
    const sizes: number[] = [];
    const ask = doTogether(async (_: string, requests: readonly number[]) => {
      sizes.push(requests.length);
      return requests;
    }, 2);
    await Promise.all([1, 2, 3, 4, 5, 6].map((request) => ask('a', request)));
    expect(sizes).toEqual([1, 2, 2, 1]);
  });

  it('fails for those it was called for alone, and goes on', async () => {
    const ask = doTogether(async (_: string, requests: readonly number[]) => {
      if (requests.includes(1)) throw new Error('no');
      return requests;
    });
    const ended = await Promise.allSettled([ask('a', 1), ask('a', 2)]);
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await ask('a', 3)).toBe(3);
  });
});
