import { describe, expect, it } from 'vitest';
import { createDispatch } from '../../../src/execution/dispatch.ts';
import type { Work } from '../../../src/execution/perform.ts';
import type { Workers } from '../../../src/store/port/workers.ts';

const never = new AbortController().signal;
const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
};

/** A worker over a list of attempts that wait; names are ids. */
function setting(options: {
  readonly capacity: number;
  readonly queued?: readonly { readonly name: string; readonly weight?: number }[];
  readonly canRun?: () => boolean;
  readonly look?: () => Awaited<ReturnType<Workers['look']>> | ReturnType<Workers['look']>;
}) {
  const queued = [...(options.queued ?? [])];
  const running = new Map<string, PromiseWithResolvers<void>>();
  /** Of each run, in the order of beginning. */
  const runs: PromiseWithResolvers<void>[] = [];
  const ended: string[] = [];
  const left: string[] = [];
  const changed: string[] = [];
  const workers: Workers = {
    look: async () => (await options.look?.()) ?? { gone: [], waiting: false },
    leave: async (worker) => void left.push(worker),
    forget: async () => {},
    isAlive: async () => true,
  };
  const dispatch = createDispatch({
    canRun: async () => options.canRun?.() ?? true,
    worker: 'w',
    capacity: options.capacity,
    changed: ({ id }) => void changed.push(id),
    log: { warn: () => {}, error: () => {} } as unknown as Parameters<typeof createDispatch>[0]['log'],
    store: {
      workers,
      attempts: {
        claimNext: async (_, { free, capacity = free, most }) => {
          await new Promise(setImmediate);
          const taken: Work[] = [];
          for (let room = free; taken.length < most; ) {
            const index = queued.findIndex(({ weight = 1 }) => Math.min(weight, capacity) <= room);
            const [found] = index < 0 ? [] : queued.splice(index, 1);
            if (found === undefined) break;
            const { name, weight = 1 } = found;
            room -= Math.min(weight, capacity);
            // Of one task by their first letters.
            const task = { id: name.slice(0, 1) };
            taken.push({ claim: { attemptId: name, epoch: 1 }, subtask: { weight }, task } as Work);
          }
          return taken;
        },
      },
    },
    run: async ({ claim }, { gone, shutdown }) => {
      const work = Promise.withResolvers<void>();
      running.set(claim.attemptId, work);
      runs.push(work);
      const why = (reason: string) => () => {
        ended.push(`${claim.attemptId} ${reason}`);
        work.resolve();
      };
      gone.addEventListener('abort', why('gone'), { once: true });
      shutdown.addEventListener('abort', why('given back'), { once: true });
      await work.promise;
      if (running.get(claim.attemptId) === work) running.delete(claim.attemptId);
    },
  });
  const end = async (name: string) => {
    running.get(name)?.resolve();
    await settled();
  };
  return { dispatch, queued, runs, ended, left, changed, end, running: () => [...running.keys()] };
}

const nothing = { gone: [], waiting: false };
const names = (...list: string[]) => list.map((name) => ({ name }));

describe('a worker', () => {
  it('takes what there is for it when it is woken, and the next one whenever one ends', async () => {
    const at = setting({ capacity: 2, queued: names('a', 'b', 'c') });
    await at.dispatch.wake(never);
    expect(at.running()).toEqual(['a', 'b']);
    await at.end('a');
    expect(at.running()).toEqual(['b', 'c']);
    await at.end('b');
    await at.end('c');
    expect(at.running()).toEqual([]);
  });

  it('tells of a task when it takes attempts of it, once however many, and when one ends', async () => {
    const at = setting({ capacity: 4, queued: names('a1', 'a2', 'b1') });
    expect(at.dispatch.room()).toBe(4);
    await at.dispatch.wake(never);
    expect({ changed: at.changed.splice(0), room: at.dispatch.room() }).toEqual({
      changed: ['a', 'b'],
      room: 1,
    });
    await at.end('a2');
    expect({ changed: at.changed, room: at.dispatch.room() }).toEqual({ changed: ['a'], room: 2 });
  });

  it('takes nothing while nothing can run there, and what has waited once it can', async () => {
    let engine = false;
    const look = () => ({ gone: [], waiting: true });
    const at = setting({ capacity: 2, queued: names('a', 'b', 'c'), canRun: () => engine, look });
    await at.dispatch.wake(never);
    await at.dispatch.look();
    expect(at.running()).toEqual([]);
    engine = true;
    await at.dispatch.look();
    expect(at.running()).toEqual(['a', 'b']);
  });

  it('holds its bound however many wake-ups come at once; a wake-up without room waits for it', async () => {
    const at = setting({ capacity: 2, queued: names('a', 'b', 'c', 'd') });
    const wakes = [1, 2, 3].map(() => at.dispatch.wake(never));
    await Promise.all(wakes.slice(0, 2));
    await settled();
    expect(at.running()).toEqual(['a', 'b']);
    await at.end('b');
    await Promise.all(wakes);
    await settled();
    expect(at.running()).toEqual(['a', 'c']);
  });

  it('fills the room that a heavy attempt leaves; one heavier than itself takes all of it', async () => {
    const at = setting({
      capacity: 3,
      queued: [{ name: 'heavy', weight: 9 }, ...names('a', 'b', 'c', 'd')],
    });
    await at.dispatch.wake(never);
    const held = at.dispatch.wake(never);
    await settled();
    expect(at.running()).toEqual(['heavy']);
    await at.end('heavy');
    await held;
    await settled();
    expect(at.running()).toEqual(['a', 'b', 'c']);
  });

  it('lets a wake-up go whose job is aborted', async () => {
    const at = setting({ capacity: 1, queued: names('a', 'b') });
    await at.dispatch.wake(never);
    const job = new AbortController();
    const held = at.dispatch.wake(job.signal);
    job.abort(new Error('shutting down'));
    await expect(held).rejects.toThrow('shutting down');
    expect(at.running()).toEqual(['a']);
  });

  it('ends the attempts whose claims are gone, and takes what has waited though there is room', async () => {
    let answer = { gone: [] as string[], waiting: false };
    const at = setting({ capacity: 2, queued: names('a', 'b', 'c'), look: () => answer });
    await at.dispatch.wake(never);
    await at.dispatch.look();
    expect({ ended: at.ended, running: at.running() }).toEqual({ ended: [], running: ['a', 'b'] });
    answer = { gone: ['a', 'unknown'], waiting: true };
    await at.dispatch.look();
    await settled();
    expect({ ended: at.ended, running: at.running() }).toEqual({ ended: ['a gone'], running: ['b', 'c'] });
  });

  it('keeps count of an attempt that it gave back and took anew before it had let go of it', async () => {
    const answers: (() => Promise<{ gone: string[]; waiting: boolean }>)[] = [];
    const at = setting({ capacity: 2, queued: names('a'), look: () => answers.pop()?.() ?? nothing });
    await at.dispatch.wake(never);
    at.queued.push({ name: 'a' });
    await at.dispatch.wake(never);
    // What is said of the claim that it had is not said of the one that it has.
    answers.push(async () => {
      at.runs[1]?.resolve();
      await settled();
      at.queued.push({ name: 'a' });
      await at.dispatch.wake(never);
      return { gone: ['a'], waiting: false };
    });
    expect({ runs: at.runs.length, room: at.dispatch.room() }).toEqual({ runs: 2, room: 1 });
    at.runs[0]?.resolve();
    await settled();
    expect({ runs: at.runs.length, room: at.dispatch.room() }).toEqual({ runs: 2, room: 1 });
    await at.dispatch.look();
    await settled();
    expect({ runs: at.runs.length, room: at.dispatch.room() }).toEqual({ runs: 3, room: 1 });
  });

  it('gives back what runs when it stops, takes nothing more, and signs off when it is told to', async () => {
    const at = setting({ capacity: 2, queued: names('a', 'b', 'c') });
    await Promise.all([at.dispatch.wake(never), at.dispatch.wake(never)]);
    const late = at.dispatch.wake(never);
    at.changed.splice(0);
    await at.dispatch.stop();
    await late;
    const { ended, queued, left, changed } = at;
    expect({ ended, running: at.running(), queued, left: left.splice(0), changed }).toEqual({
      ended: ['a given back', 'b given back'],
      running: [],
      queued: names('c'),
      // It has sandboxes yet.
      left: [],
      // Nothing is started ahead by a worker that goes.
      changed: [],
    });
    await at.dispatch.signOff();
    expect(left).toEqual(['w']);
  });
});
