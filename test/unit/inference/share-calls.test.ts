import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../../src/inference/port.ts';
import { createCallSharing } from '../../../src/inference/share-calls.ts';

const usage = { promptTokens: 5, cachedTokens: 1, completionTokens: 2, estimated: false };
const nothing = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, estimated: false };
const reply = (content: string): ModelReply => ({ content, toolCalls: [], finishReason: 'stop', usage });

class OwnFault extends Error {}

/** Callers of one sharing; `calls` are those that were really made, to be answered by hand. */
function setting() {
  const share = createCallSharing();
  const calls: { by: string; answer: (reply: ModelReply) => void; fail: (error: Error) => void }[] = [];
  const ask = (by: string, key = 'k') => {
    const abort = new AbortController();
    const outcome = share(key, {
      signal: abort.signal,
      wait: (work) => work,
      isOwn: (error) => error instanceof OwnFault,
      call: () =>
        new Promise((resolve, reject) => {
          calls.push({ by, answer: resolve, fail: reject });
          abort.signal.addEventListener('abort', () => reject(abort.signal.reason));
        }),
    }).catch((error: unknown) => error);
    return { outcome, abort: (why: Error) => abort.abort(why) };
  };
  /** What was asked for and answered has gone through. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const madeBy = () => calls.map(({ by }) => by);
  return { ask, calls, settled, madeBy };
}

describe('identical calls in flight', () => {
  it('are made once; the first pays, the others get the same for nothing', async () => {
    const { ask, calls, madeBy } = setting();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ask(name));
    calls[0]?.answer(reply('yes'));
    expect(await Promise.all([a?.outcome, b?.outcome, c?.outcome])).toEqual([
      reply('yes'),
      { ...reply('yes'), usage: nothing },
      { ...reply('yes'), usage: nothing },
    ]);
    expect(madeBy()).toEqual(['a']);
  });

  it('are made again once none is in flight, and others at once', async () => {
    const { ask, calls, madeBy, settled } = setting();
    const first = ask('a');
    const other = ask('b', 'another key');
    calls[0]?.answer(reply('1'));
    await first.outcome;
    const second = ask('c');
    await settled();
    expect(madeBy()).toEqual(['a', 'b', 'c']);
    calls[1]?.answer(reply('2'));
    calls[2]?.answer(reply('3'));
    expect(await other.outcome).toEqual(reply('2'));
    expect(await second.outcome).toEqual(reply('3'));
  });

  it('outlive the one that made them: who waits longest makes the call in its place', async () => {
    const { ask, calls, madeBy, settled } = setting();
    const [a, b, c] = [ask('a'), ask('b'), ask('c')];
    const gone = new Error('cancelled');
    a.abort(gone);
    expect(await a.outcome).toBe(gone);
    await settled();
    expect(madeBy()).toEqual(['a', 'b']);
    // One that comes now waits as well.
    const d = ask('d');
    calls[1]?.answer(reply('yes'));
    expect(await b.outcome).toEqual(reply('yes'));
    expect(await c.outcome).toEqual({ ...reply('yes'), usage: nothing });
    expect(await d.outcome).toEqual({ ...reply('yes'), usage: nothing });
    expect(madeBy()).toEqual(['a', 'b']);
  });

  it('do not wait for one that gave up waiting', async () => {
    const { ask, calls, madeBy, settled } = setting();
    const [a, b, c] = [ask('a'), ask('b'), ask('c')];
    b.abort(new Error('cancelled'));
    expect(await b.outcome).toBeInstanceOf(Error);
    calls[0]?.fail(new Error('500'));
    expect(await a.outcome).toEqual(new Error('500'));
    await settled();
    expect(madeBy()).toEqual(['a', 'c']);
    calls[1]?.answer(reply('yes'));
    expect(await c.outcome).toEqual(reply('yes'));
  });

  it('are made by everybody alone once two have failed', async () => {
    const { ask, calls, madeBy, settled } = setting();
    const all = ['a', 'b', 'c', 'd'].map((name) => ask(name));
    calls[0]?.fail(new Error('down'));
    await settled();
    calls[1]?.fail(new Error('down'));
    await settled();
    expect(madeBy()).toEqual(['a', 'b', 'c', 'd']);
    calls[2]?.answer(reply('c'));
    calls[3]?.answer(reply('d'));
    expect(await Promise.all(all.map(({ outcome }) => outcome))).toEqual([
      new Error('down'),
      new Error('down'),
      reply('c'),
      reply('d'),
    ]);
  });

  it('are not judged by failures of their callers alone', async () => {
    const { ask, calls, madeBy, settled } = setting();
    const all = ['a', 'b', 'c', 'd'].map((name) => ask(name));
    for (const index of [0, 1, 2]) {
      calls[index]?.fail(new OwnFault('no budget'));
      await settled();
    }
    expect(madeBy()).toEqual(['a', 'b', 'c', 'd']);
    calls[3]?.answer(reply('yes'));
    expect(await all[3]?.outcome).toEqual(reply('yes'));
  });
});
