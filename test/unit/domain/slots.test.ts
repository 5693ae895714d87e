import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../src/domain/slots.ts';

describe('slots', () => {
  const never = new AbortController().signal;

  it('are given in the order of asking, never more than there are', async () => {
    const slots = createSlots(2);
    const log: string[] = [];
    const first = await slots.take(never);
    const second = await slots.take(never);
    const third = slots.take(never).then((giveBack) => {
      log.push('third');
      return giveBack;
    });
    const fourth = slots.take(never).then(() => log.push('fourth'));
    await Promise.resolve();
    expect(log).toEqual([]);
    first();
    first();
    const giveThird = await third;
    expect(log).toEqual(['third']);
    giveThird();
    await fourth;
    expect(log).toEqual(['third', 'fourth']);
    second();
  });

  it('are not lost to those who stopped waiting', async () => {
    const slots = createSlots(1);
    const giveBack = await slots.take(never);
    const controller = new AbortController();
    const waiting = slots.take(controller.signal);
    controller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    giveBack();
    await slots.take(never);
  });
});
