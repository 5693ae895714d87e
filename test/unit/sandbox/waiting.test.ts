import { describe, expect, it } from 'vitest';
import { createGate } from '../../../src/domain/gate.ts';
import { createSharedWork } from '../../../src/sandbox/shared-work.ts';

const never = new AbortController().signal;

describe('the gate', () => {
  it('lets no more than its size run at once, in order, and all in the end', async () => {
    const gate = createGate(2);
    const began: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      [0, 1, 2, 3, 4].map((job) =>
        gate(never, async () => {
          began.push(job);
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
        }),
      ),
    );
    expect({ began, most }).toEqual({ began: [0, 1, 2, 3, 4], most: 2 });
  });

  it('never runs a job that was aborted while it waited, and goes on after failures', async () => {
    const gate = createGate(1);
    const abort = new AbortController();
    const first = Promise.withResolvers<void>();
    const ran: string[] = [];
    const jobs = [
      gate(never, () => first.promise),
      gate(abort.signal, async () => void ran.push('aborted')),
      gate(never, async () => {
        ran.push('third');
        throw new Error('failed');
      }),
      gate(never, async () => void ran.push('fourth')),
    ];
    abort.abort(new Error('given up'));
    first.resolve();
    const settled = await Promise.allSettled(jobs);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(ran).toEqual(['third', 'fourth']);
  });
});

describe('shared work', () => {
  it('is done once for all who ask meanwhile, and survives one who gives up', async () => {
    const once = createSharedWork<string>();
    const done = Promise.withResolvers<string>();
    const giveUp = new AbortController();
    let times = 0;
    const work = () => {
      times += 1;
      return done.promise;
    };
    const one = once('key', giveUp.signal, work);
    const two = once('key', never, work);
    giveUp.abort(new Error('no more'));
    await expect(one).rejects.toThrow('no more');
    done.resolve('made');
    expect({ two: await two, times }).toEqual({ two: 'made', times: 1 });
  });

  it('is aborted when the last one gives up, and begun anew by the next', async () => {
    const once = createSharedWork<string>();
    const giveUp = new AbortController();
    let aborted = false;
    const stuck = once('key', giveUp.signal, (signal) => {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    });
    giveUp.abort(new Error('no more'));
    await expect(stuck).rejects.toThrow('no more');
    expect({ next: await once('key', never, async () => 'fresh'), aborted }).toEqual({
      next: 'fresh',
      aborted: true,
    });
  });

  it('does not remember a failure', async () => {
    const once = createSharedWork<string>();
    await expect(once('key', never, async () => Promise.reject(new Error('bad')))).rejects.toThrow('bad');
    expect(await once('key', never, async () => 'good')).toBe('good');
  });
});
