import { createSlots } from './slots.ts';

/** Lets at most `size` jobs run at once; the others wait in order. One that is aborted while it waits never runs. */
export function createGate(size: number): <T>(signal: AbortSignal, job: () => Promise<T>) => Promise<T> {
  const slots = createSlots(size);
  return async (signal, job) => {
    const giveBack = await slots.take(signal);
    try {
      return await job();
    } finally {
      giveBack();
    }
  };
}
