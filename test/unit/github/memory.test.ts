import { expect, it } from 'vitest';
import { createMemory } from '../../../src/github/memory.ts';

it('asks once for each key, also at once, and again for those it had to let go', async () => {
  const asked: string[] = [];
  const memory = createMemory<string>(2);
  const of = (key: string) =>
    memory(key, async () => {
      asked.push(key);
      return `of ${key}`;
    });
  expect(await Promise.all([of('a'), of('a'), of('b')])).toEqual(['of a', 'of a', 'of b']);
  await of('a'); // asked for later than b
  await of('c');
  await of('a');
  await of('b');
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

it('forgets a failure', async () => {
  let tries = 0;
  const memory = createMemory<number>(2);
  const ask = () =>
    memory('a', async () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      return tries;
    });
  await expect(ask()).rejects.toThrow('not yet');
  expect(await ask()).toBe(2);
});
