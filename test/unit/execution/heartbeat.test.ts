import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClaimLost, keepClaim } from '../../../src/execution/heartbeat.ts';

const claim = { attemptId: 'attempt', epoch: 1 };
const timing = { heartbeat_ms: 1000, lease_ms: 5000 };
const log = { warn: () => {} } as unknown as Parameters<typeof keepClaim>[3];
const keep = (heartbeat: () => Promise<boolean>) => keepClaim({ heartbeat }, claim, timing, log);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a claim', () => {
  it('stands as long as it is renewed', async () => {
    const kept = keep(async () => true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kept.signal.aborted).toBe(false);
    kept.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<[string, () => Promise<boolean>, number]>([
    ['at once where it is refused', async () => false, 1000],
    ['after a lease where no heartbeat can be stored', () => Promise.reject(new Error('down')), 5000],
    ['after a lease where the database hangs', () => new Promise(() => {}), 5000],
  ])('is lost %s', async (_, heartbeat, after) => {
    const kept = keep(heartbeat);
    await vi.advanceTimersByTimeAsync(after - 1);
    expect(kept.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(kept.signal.reason).toBeInstanceOf(ClaimLost);
    kept.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is asked about before it is given up by a process that slept', async () => {
    let beats = 0;
    const kept = keep(async () => {
      beats += 1;
      return true;
    });
    vi.setSystemTime(Date.now() + 60_000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(kept.signal.aborted).toBe(false);
    expect(beats).toBeGreaterThan(10);
    kept.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('survives a heartbeat or two that fail', async () => {
    let beats = 0;
    const kept = keep(async () => {
      beats += 1;
      if (beats % 3 !== 0) throw new Error('down');
      return true;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kept.signal.aborted).toBe(false);
    kept.stop();
  });
});
