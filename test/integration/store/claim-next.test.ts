import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { avoidMs, type ClaimLimits, defaultClaimLimits, type Room } from '../../../src/store/claim-next.ts';
import type { Store } from '../../../src/store/port.ts';
import { attempts, subtasks, tasks } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newRow, newTask } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const stores: Store[] = [];
beforeAll(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.db.execute(sql`truncate tasks, workers cascade`));
afterAll(() => database.close());

function storeWith(claims: Partial<ClaimLimits> = {}): Store {
  const store = createStore(database, {
    taskTokens: 1_000_000,
    claims: { ...defaultClaimLimits, ...claims },
    onError: () => {},
  });
  stores.push(store);
  return store;
}

interface Queued {
  readonly name: string;
  readonly installation?: number;
  /** Attempts of one name belong to one task. */
  readonly task?: string;
  readonly priority?: number;
  readonly waitedMs?: number;
  readonly weight?: number;
  readonly path?: number;
  readonly status?: 'queued' | 'running';
  /** Workers that failed its row before. */
  readonly failedOn?: readonly string[];
}

/** Rows as the scheduler leaves them, all at one moment; attempts are known by their names. */
async function put(list: readonly Queued[]): Promise<{ nameOf: (claimed: Claimed) => string | null }> {
  const { db } = database;
  const at = Date.now();
  const names = new Map<string, string>();
  const known = new Map<string, string>();
  for (const [index, item] of list.entries()) {
    const { name, installation = 1, priority = 20, waitedMs = 0, failedOn = [] } = item;
    const task = item.task ?? name;
    let taskId = known.get(task);
    if (taskId === undefined) {
      taskId = randomUUID();
      known.set(task, taskId);
      const { held: _, ...row } = newTask({
        key: `${task}-${taskId}`,
        installationId: installation,
        priority,
      });
      await db.insert(tasks).values({ ...row, id: taskId, phase: 'running' });
    }
    const row = newRow(name);
    const subtaskId = randomUUID();
    await db.insert(subtasks).values({
      id: subtaskId,
      taskId,
      row: index,
      title: row.title,
      agent: row.agent,
      matrix: row.matrix,
      complexity: 1,
      status: 'running',
      weight: item.weight ?? 1,
      path: item.path ?? 1,
      failures: failedOn.length,
    });
    for (const [number, worker] of failedOn.entries())
      await db
        .insert(attempts)
        .values({ id: randomUUID(), taskId, subtaskId, number: number + 1, status: 'failed', worker });
    const id = randomUUID();
    names.set(id, name);
    const running = item.status === 'running' ? { worker: 'other', heartbeatAt: new Date() } : {};
    await db.insert(attempts).values({
      id,
      taskId,
      subtaskId,
      number: failedOn.length + 1,
      status: item.status ?? 'queued',
      queuedAt: new Date(at - waitedMs),
      ...running,
    });
  }
  return { nameOf: (claimed) => (claimed === null ? null : (names.get(claimed.attempt.id) ?? 'unknown')) };
}

type Claimed = Awaited<ReturnType<Store['attempts']['claim']>>;

const takeOne = async (store: Store, worker: string, room: Room): Promise<Claimed> =>
  (await store.attempts.claimNext(worker, { ...room, most: 1 }))[0] ?? null;

/** What one worker takes, one after the other, until nothing is to be had. */
async function takeAll(list: readonly Queued[], claims: Partial<ClaimLimits> = {}, free = 1000) {
  const store = storeWith(claims);
  const { nameOf } = await put(list);
  const order: string[] = [];
  for (;;) {
    const name = nameOf(await takeOne(store, 'w', { free }));
    if (name === null) break;
    order.push(name);
  }
  if (free < 1000) return order;
  // One claim of many takes the same, in the same order.
  await database.db.execute(sql`truncate tasks cascade`);
  const again = await put(list);
  const many = await store.attempts.claimNext('w', { free, most: 1000 });
  expect(many.map(again.nameOf)).toEqual(order);
  return order;
}

const minute = 60_000;

describe('the next attempt', () => {
  it('is of the best lane: commands, then pull requests, then what can wait', async () => {
    const list = [
      { name: 'batch', priority: 30, waitedMs: 3000 },
      { name: 'pull', priority: 20, waitedMs: 2000 },
      { name: 'command', priority: 10, waitedMs: 1000 },
    ];
    expect(await takeAll(list)).toEqual(['command', 'pull', 'batch']);
  });

  it('has gained a lane for each `lane_seconds` it waited, beyond the best one too', async () => {
    const list = [
      { name: 'fresh command', priority: 10 },
      { name: 'batch of 4 min', priority: 30, waitedMs: 4 * minute },
      { name: 'batch of 16 min', priority: 30, waitedMs: 16 * minute },
      { name: 'fresh pull', priority: 20, installation: 2 },
      { name: 'batch of 6 min', priority: 30, waitedMs: 6 * minute, installation: 3 },
      { name: 'fresh pull again', priority: 20, installation: 3 },
    ];
    expect(await takeAll(list)).toEqual([
      'batch of 16 min',
      'fresh command',
      'batch of 6 min',
      'fresh pull',
      'fresh pull again',
      'batch of 4 min',
    ]);
  });

  it('is of the installation whose turn it is, then of the task, then on the longest path, then the oldest', async () => {
    const busy = { installation: 1, task: 'busy' };
    const list = [
      { name: 'a1', ...busy, waitedMs: 9000 },
      { name: 'a2', ...busy, waitedMs: 8000, path: 5 },
      { name: 'a3', ...busy, waitedMs: 9500 },
      { name: 'b1', installation: 1, task: 'beside', waitedMs: 3000 },
      { name: 'c1', installation: 2, task: 'small', waitedMs: 1000 },
      { name: 'c2', installation: 2, task: 'small', waitedMs: 500 },
    ];
    expect(await takeAll(list)).toEqual(['a2', 'c1', 'b1', 'c2', 'a3', 'a1']);
  });

  it('leaves room as the limits of installation and fleet say', async () => {
    const list = [
      { name: 'runs', installation: 1, status: 'running' as const },
      ...['a', 'b', 'c'].map((name) => ({ name, installation: 1 })),
      ...['d', 'e', 'f'].map((name) => ({ name, installation: 2 })),
    ];
    expect(await takeAll(list, { installationParallel: 2 })).toEqual(['d', 'a', 'e']);
    await database.db.execute(sql`truncate tasks cascade`);
    expect(await takeAll(list, { fleetParallel: 3 })).toHaveLength(2);
  });

  it('fits the worker; a heavy one that has waited for a lane holds back what comes after it', async () => {
    const list = (waitedMs: number) => [
      { name: 'heavy', weight: 4, waitedMs },
      { name: 'light', waitedMs: 0 },
    ];
    const store = storeWith();
    const take = async (waitedMs: number, rooms: readonly number[]) => {
      const { nameOf } = await put(list(waitedMs));
      const taken: (string | null)[] = [];
      for (const free of rooms) taken.push(nameOf(await takeOne(store, 'w', { free, capacity: 8 })));
      await database.db.execute(sql`truncate tasks cascade`);
      return taken;
    };
    expect(await take(minute, [3, 3, 4])).toEqual(['light', null, 'heavy']);
    expect(await take(6 * minute, [3, 4, 1])).toEqual([null, 'heavy', 'light']);
    // Heavier than the whole worker: it takes all of that.
    expect(await takeAll(list(6 * minute), {}, 3)).toEqual(['heavy', 'light']);
  });

  it('is no retry of what failed here, as long as another worker lives that has not failed it', async () => {
    const retry = [{ name: 'retry', failedOn: ['w'] }];
    expect(await takeAll(retry)).toEqual(['retry']); // nobody else is there
    await database.db.execute(sql`truncate tasks cascade`);

    const store = storeWith({ leaseMs: 60 * minute });
    // It has not begun to wait, however long the test takes.
    const list = [{ name: 'retry', failedOn: ['w'], waitedMs: -60 * minute }, { name: 'other' }];
    const { nameOf } = await put(list);
    await store.workers.look('x', { capacity: 1, claims: [], waitingMs: 0 });
    expect(nameOf(await takeOne(store, 'w', { free: 1 }))).toBe('other');
    expect(await takeOne(store, 'w', { free: 1 })).toBeNull();
    expect(nameOf(await takeOne(store, 'x', { free: 1 }))).toBe('retry');
    await database.db.execute(sql`truncate tasks cascade`);

    // Waited for long enough; then: the other one has failed it as well.
    expect(await takeAll([{ name: 'late', failedOn: ['w'], waitedMs: avoidMs }])).toEqual(['late']);
    await database.db.execute(sql`truncate tasks cascade`);
    expect(await takeAll([{ name: 'both', failedOn: ['w', 'x'] }])).toEqual(['both']);
  });

  it('comes with others, as many as are the share of one of the workers that live', async () => {
    const store = storeWith({ leaseMs: 60 * minute });
    await put(Array.from({ length: 10 }, (_, index) => ({ name: `${index}` })));
    for (const worker of ['w', 'x'])
      await store.workers.look(worker, { capacity: 10, claims: [], waitingMs: 0 });
    const shares: number[] = [];
    for (const worker of ['w', 'x', 'w', 'x', 'w'])
      shares.push((await store.attempts.claimNext(worker, { free: 10, most: 10 })).length);
    expect(shares).toEqual([5, 3, 1, 1, 0]);
  });

  it('is taken once, and limits hold, however many workers ask at once', async () => {
    const store = storeWith({ installationParallel: 12, fleetParallel: 30 });
    const names = Array.from({ length: 60 }, (_, index) => ({
      name: `${index}`,
      installation: index % 4,
    }));
    await put(names);
    const claimed = await Promise.all(
      Array.from({ length: 60 }, (_, index) => takeOne(store, `w${index % 5}`, { free: 1 })),
    );
    const taken = claimed.filter((claim) => claim !== null);
    const of = Map.groupBy(taken, ({ task }) => task.installationId);
    expect({ taken: new Set(taken.map(({ claim }) => claim.attemptId)).size, rounds: taken.length }).toEqual({
      taken: 30,
      rounds: 30,
    });
    expect([...of.values()].map((list) => list.length).sort()).toEqual([7, 7, 8, 8]);
  });
});
