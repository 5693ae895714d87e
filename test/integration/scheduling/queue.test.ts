import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQueue, type JobQueue, type QueueBackend } from '../../../src/scheduling/queue.ts';
import type { OpenDatabase } from '../../../src/store/database.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { openTestDatabase } from '../../support/database.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';

let database: OpenDatabase;
let redis: TestRedis;
beforeAll(async () => {
  [database, redis] = await Promise.all([openTestDatabase(), startRedis()]);
});
afterAll(() => Promise.all([database.close(), redis.stop()]));

const backends: [string, () => QueueBackend][] = [
  [
    'Postgres',
    () => ({ kind: 'postgres', newPool: (searchPath) => database.newPool({ searchPath, max: 12 }) }),
  ],
  ['Redis', () => ({ kind: 'redis', url: redis.url })],
];

describe.each(backends)('the queue on %s', (_name, backend) => {
  async function withQueues(count: number, use: (...queues: JobQueue[]) => Promise<void>): Promise<void> {
    const log = createLog({ level: 'fatal', secrets: [] });
    const open = () => createQueue({ backend: backend(), queueShards: 3, leaseMs: 30_000, log });
    const queues = await Promise.all(Array.from({ length: count }, open));
    try {
      await use(...queues);
    } finally {
      await Promise.all(queues.map((queue) => queue.close()));
    }
  }

  it('does a job that is asked for many times while it waits once', () =>
    withQueues(1, async (queue) => {
      const [asked, last] = [randomUUID(), randomUUID()];
      for (let time = 0; time < 5; time += 1) await queue.enqueue('plan', asked);
      await queue.enqueue('plan', last, { priority: 1000 });
      const done: string[] = [];
      const end = Promise.withResolvers<void>();
      await queue.work('plan', 1, async (id) => {
        done.push(id);
        if (id === last) end.resolve();
      });
      await end.promise;
      expect(done).toEqual([asked, last]);
    }));

  it('loses no wake-up: what is asked for while it runs is done once more', () =>
    withQueues(2, async (queue, other) => {
      const id = randomUUID();
      const began = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const again = Promise.withResolvers<void>();
      let runs = 0;
      let most = 0;
      let inside = 0;
      await queue.work('advance', 4, async () => {
        runs += 1;
        inside += 1;
        most = Math.max(most, inside);
        if (runs === 1) {
          began.resolve();
          await goOn.promise;
        } else again.resolve();
        inside -= 1;
      });
      await queue.enqueue('advance', id);
      await began.promise;
      for (let time = 0; time < 3; time += 1) await other.enqueue('advance', id);
      goOn.resolve();
      await again.promise;
      expect({ runs, most }).toEqual({ runs: 2, most: 1 });
    }));

  it('brings a delayed job forward when it is asked for at once', () =>
    withQueues(1, async (queue) => {
      const id = randomUUID();
      const done = Promise.withResolvers<void>();
      await queue.work('publish', 1, async () => done.resolve());
      await queue.enqueue('publish', id, { delayMs: 3_600_000 });
      await queue.enqueue('publish', id);
      await done.promise;
    }));

  it('serves lower priorities first', () =>
    withQueues(1, async (queue) => {
      const ids = [30, 10, 20].map((priority) => ({ id: randomUUID(), priority }));
      for (const { id, priority } of ids) await queue.enqueue('admit', id, { priority });
      const done: string[] = [];
      const end = Promise.withResolvers<void>();
      await queue.work('admit', 1, async (id) => {
        done.push(id);
        if (done.length === 3) end.resolve();
      });
      await end.promise;
      expect(done).toEqual([ids[1]?.id, ids[2]?.id, ids[0]?.id]);
    }));

  it('takes wake-ups of all queue shards, so many at once of each', () =>
    withQueues(1, async (queue) => {
      let inside = 0;
      let most = 0;
      const pending = new Set<string>(Array.from({ length: 60 }, () => randomUUID()));
      const end = Promise.withResolvers<void>();
      for (const [index, id] of [...pending].entries()) await queue.enqueueRun(id, index);
      await queue.work('run', 2, async (id) => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise(setImmediate);
        inside -= 1;
        pending.delete(id);
        if (pending.size === 0) end.resolve();
      });
      await end.promise;
      expect(most).toBeLessThanOrEqual(6);
    }));

  it('tries a job that failed again', () =>
    withQueues(1, async (queue) => {
      const end = Promise.withResolvers<void>();
      let tries = 0;
      await queue.work('plan', 1, async () => {
        tries += 1;
        if (tries === 1) throw new Error('first time');
        end.resolve();
      });
      await queue.enqueue('plan', randomUUID());
      await end.promise;
      expect(tries).toBe(2);
    }));

  it('aborts the signal of a running job when it closes, and waits for it', async () => {
    const ended = Promise.withResolvers<string>();
    await withQueues(1, async (queue) => {
      const began = Promise.withResolvers<void>();
      await queue.work('plan', 1, async (_id, signal) => {
        began.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        ended.resolve('aborted');
      });
      await queue.enqueue('plan', randomUUID());
      await began.promise;
    });
    expect(await ended.promise).toBe('aborted');
  });
});
