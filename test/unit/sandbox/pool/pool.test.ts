import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { poolSetting, settled } from '../fake-opener.ts';

const never = new AbortController().signal;
const a = { snapshot: 'a' };
const b = { snapshot: 'b' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Who got what, in the order of getting it. */
function takers(at: ReturnType<typeof poolSetting>) {
  const got: string[] = [];
  const take = (kind: { snapshot: string }, signal = never) => {
    const taking = at.pool.take(kind, signal).then(({ sandbox, from }) => {
      got.push(`${sandbox.container.id} ${from}`);
    });
    taking.catch(() => {});
    return taking;
  };
  return { got, take };
}

describe('a pool of sandboxes', () => {
  it('hands out what is ready, then what is being started, then starts anew', async () => {
    const at = poolSetting({ max: 2 }, 2);
    const { got, take } = takers(at);
    at.pool.prewarm(a, 2);
    expect(at.names()).toEqual(['a1', 'a2']);
    await at.starting[0]?.succeed();
    void take(a);
    void take(a);
    void take(a);
    await settled();
    expect(got).toEqual(['a1 ready']);
    expect(at.names()).toEqual(['a2', 'a3']);
    await at.succeedAll();
    expect(got).toEqual(['a1 ready', 'a2 starting', 'a3 cold']);
    expect(at.pool.figures).toEqual({
      ...{ ready: 1, starting: 1, cold: 1 },
      ...{ started: 2, failed: 0, dead: 0, dropped: 0, pooled: 0 },
    });
  });

  it('keeps kinds apart: another image, layer, memory or network is another kind', async () => {
    const at = poolSetting({ max: 8 }, 8);
    const { got, take } = takers(at);
    at.pool.prewarm({ ...a, image: 'patchfleet-sandbox:latest', memoryMib: 1024 }, 1);
    await at.succeedAll();
    const allow = [{ host: 'registry.example', port: 443, private: false }];
    for (const other of [{ prepared: '/p' }, { image: 'x' }, { memoryMib: 2048 }, { network: allow }])
      void take({ ...a, ...other });
    await at.succeedAll();
    expect(got.every((line) => line.endsWith(' cold'))).toBe(true);
    await take(a);
    expect(got.at(-1)).toBe('a1 ready');
  });

  it('lets those who wait for a start go before it', async () => {
    const at = poolSetting({ max: 4 }, 2);
    const { got, take } = takers(at);
    at.pool.prewarm(a, 4);
    expect(at.names()).toEqual(['a1', 'a2']);
    void take(b);
    void take(b);
    void take(b);
    await at.starting[0]?.succeed();
    await at.starting[0]?.succeed();
    expect(at.names()).toEqual(['b3', 'b4']);
    await at.starting[0]?.succeed();
    expect(at.names()).toEqual(['b4', 'b5']);
    await at.succeedAll();
    expect(got).toEqual(['b3 cold', 'b4 cold', 'b5 cold']);
    expect(at.pool.figures).toMatchObject({ started: 4, pooled: 4 });
  });

  it('hands out neither the dead nor the ill, and replaces the dead while it is wanted', async () => {
    const at = poolSetting({ max: 3 }, 3);
    const { got, take } = takers(at);
    at.pool.prewarm(a, 3);
    await at.succeedAll();
    await at.die('a1');
    at.unhealthy.add('a2');
    await take(a);
    expect(got).toEqual(['a3 ready']);
    expect(at.discarded).toEqual(['a1', 'a2']);
    // After a pause, and only what is still wanted: two of three.
    await vi.advanceTimersByTimeAsync(1000);
    expect(at.names()).toEqual(['a4', 'a5']);
    at.pool.prewarm(a, 0);
    await at.succeedAll();
    await at.die('a5');
    await vi.advanceTimersByTimeAsync(100_000);
    expect(at.starting).toEqual([]);
  });

  it('tells of failed starts once, pauses longer and longer, and never lets anybody fail by them', async () => {
    const at = poolSetting({ max: 2 }, 1);
    const { got, take } = takers(at);
    at.pool.prewarm(a, 2);
    await at.starting[0]?.fail();
    expect(at.names()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(at.names()).toEqual(['a2']);
    void take(a);
    await at.starting[0]?.fail();
    expect(at.names()).toEqual(['a3']);
    await at.starting[0]?.succeed();
    expect(got).toEqual(['a3 cold']);
    await vi.advanceTimersByTimeAsync(1999);
    expect(at.names()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(at.names()).toEqual(['a4']);
    expect(at.warnings).toEqual([
      'a sandbox could not be started ahead; attempts start their own: {"problem":"no engine"}',
    ]);
  });

  it('shrinks when it is idle, down to its least for the work seen last', async () => {
    const at = poolSetting({ min: 1, max: 4, idle_seconds: 10 }, 4);
    at.pool.prewarm(b, 1);
    await vi.advanceTimersByTimeAsync(1);
    at.pool.prewarm(a, 3);
    await at.succeedAll();
    await vi.advanceTimersByTimeAsync(9990);
    expect(at.discarded).toEqual([]);
    await vi.advanceTimersByTimeAsync(11);
    expect(at.discarded.toSorted()).toEqual(['a2', 'a3', 'b1']);
    const { got, take } = takers(at);
    await take(a);
    expect(got).toEqual(['a4 ready']);
    expect(at.names()).toEqual(['a5']);
  });

  it('gives up the start of one who gives up, and takes nothing from the others', async () => {
    const at = poolSetting({ max: 2 }, 2);
    const { got, take } = takers(at);
    at.pool.prewarm(a, 2);
    const gone = new AbortController();
    const first = take(a, gone.signal);
    void take(a);
    gone.abort(new Error('cancelled'));
    await expect(first).rejects.toThrow('cancelled');
    await at.succeedAll();
    expect(got).toEqual(['a2 starting']);
  });

  it('once closed has nothing, starts nothing ahead, and still serves', async () => {
    const at = poolSetting({ min: 1, max: 4 }, 2);
    const { got, take } = takers(at);
    at.pool.prewarm(a, 4);
    await at.starting[0]?.succeed();
    const closing = at.pool.close();
    await settled();
    expect(at.starting).toEqual([]);
    await closing;
    expect({ discarded: at.discarded, pooled: at.pool.figures.pooled }).toEqual({
      discarded: ['a1'],
      pooled: 0,
    });
    at.pool.prewarm(a, 4);
    expect(at.starting).toEqual([]);
    void take(a);
    await at.succeedAll();
    expect(got).toEqual([expect.stringMatching(/^a\d cold$/)]);
    expect(at.warnings).toEqual([]);
  });
});
