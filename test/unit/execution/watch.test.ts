import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchLimits } from '../../../src/execution/watch.ts';

const never = new AbortController().signal;
const limits = { wallMs: 10_000, idleMs: 3000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Seconds pass, each with a sign of life. */
async function live(watch: ReturnType<typeof watchLimits>, seconds: number) {
  for (let second = 0; second < seconds; second += 1) {
    watch.alive();
    await vi.advanceTimersByTimeAsync(1000);
  }
}

describe('the limits of an attempt', () => {
  it('end it when it shows no sign of life', async () => {
    const watch = watchLimits(limits, never);
    await live(watch, 2);
    await vi.advanceTimersByTimeAsync(1999);
    expect(watch.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(watch.signal.reason).toMatchObject({ code: 'idle_limit' });
    watch.stop();
  });

  it('end it when its time is over, whatever it shows', async () => {
    const watch = watchLimits(limits, never);
    await live(watch, 9);
    expect(watch.signal.aborted).toBe(false);
    await live(watch, 1);
    expect(watch.signal.reason).toMatchObject({ code: 'wall_limit', detail: 'stopped after 10 s' });
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('move out by what has limits of its own', async () => {
    const watch = watchLimits(limits, never);
    await live(watch, 8);
    watch.extend(5000);
    await live(watch, 6);
    expect(watch.signal.aborted).toBe(false);
    await live(watch, 1);
    expect(watch.signal.reason).toMatchObject({ code: 'wall_limit', detail: 'stopped after 15 s' });
    watch.extend(5000);
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
