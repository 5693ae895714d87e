import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { limitsSchema, timingSchema } from '../../../src/config/operator-config.ts';
import { createAdvance } from '../../../src/scheduling/advance.ts';
import { createReconciler } from '../../../src/scheduling/reconciler.ts';
import type { Store } from '../../../src/store/port.ts';
import { attempts, publications, tasks, workers } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

/** The reconciler over real rows; what it asks of the queue is recorded. */

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: Store;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterEach(() => database.pool.query('truncate tasks, workers, publications, dead_letters cascade'));
afterAll(() => store.close());

const asked: string[] = [];
const queue = {
  enqueue: async (kind: string, id: string) => void asked.push(`${kind} ${id}`),
  enqueueRun: async (id: string) => void asked.push(`run ${id}`),
};
const log = pino({ level: 'silent' });
const limits = limitsSchema.parse({});
const timing = timingSchema.parse({});
async function reconcile() {
  asked.length = 0;
  await createReconciler({ store, queue, timing, limits, log })();
  return [...asked];
}
const memory = { baseMib: 1024, ceilingMib: 4096 };
const advance = (taskId: string) => createAdvance({ store, queue, limits, memory, log })(taskId);

let number = 0;
const hourAgo = () => new Date(Date.now() - 3_600_000);
async function task(change: Partial<Parameters<typeof newTask>[0] & object> = {}) {
  number += 1;
  const made = newTask({
    number,
    headSha: String(number).padStart(40, '0'),
    key: `task ${number}`,
    ...change,
  });
  return (await store.tasks.create(made)).task;
}

describe('a task over its time limit', () => {
  it('ends with what it has: open rows fail, their attempts end, what merges still runs', async () => {
    const { id } = await task({ kind: 'fix' });
    const merge = newRow('merge', { kind: 'integrate', waitsFor: 'end', dependsOn: [0, 1, 2] });
    await store.tasks.storePlan(
      id,
      newPlan(newRow('done'), newRow('runs'), newRow('waits', { dependsOn: [1] }), merge),
      planFacts,
    );
    await advance(id);
    const [first = null] = await store.attempts.claimNext('w', { free: 1, most: 1 });
    const [second = null] = await store.attempts.claimNext('w', { free: 1, most: 1 });
    if (first === null || second === null) throw new Error('nothing to claim');
    const [done, runs] = first.subtask.row === 0 ? [first, second] : [second, first];
    await store.attempts.succeed(done.claim, { summary: 'fine', turns: 1, artifacts: [] });
    await advance(id);
    expect(await store.due.endOverdue(60_000)).toEqual([]);

    await database.db
      .update(tasks)
      .set({ plannedAt: new Date(Date.now() - limits.task_seconds * 1000 - 1000) })
      .where(eq(tasks.id, id));
    expect(await reconcile()).toContain(`advance ${id}`);
    expect(await store.attempts.heartbeat(runs.claim)).toBe(false);
    await advance(id);
    const view = await store.views.task(id);
    expect(view?.subtasks.map(({ status, failure }) => [status, failure?.code])).toEqual([
      ['succeeded', undefined],
      ['failed', 'task_limit'],
      ['skipped', 'task_limit'],
      ['running', undefined],
    ]);
    const [last = null] = await store.attempts.claimNext('w', { free: 1, most: 1 });
    expect(last?.subtask.kind).toBe('integrate');
    if (last === null) return;
    // It is not ended by the limit, however often that is looked at.
    expect(await store.due.endOverdue(60_000)).toEqual([]);
    await store.attempts.succeed(last.claim, { summary: '', turns: 0, artifacts: [] });
    await advance(id);
    expect(await store.tasks.get(id)).toMatchObject({ phase: 'publishing', outcome: 'partial' });
    expect((await store.deadLetters.list()).map(({ failure }) => failure.code)).toContain('task_limit');
  });
});

describe('the reconciler', () => {
  it('asks again for a check run that was left open, once nothing works on its head', async () => {
    const orphan = await task();
    const busy = await task({ headSha: 'f'.repeat(40), number: 900 });
    await task({ headSha: 'f'.repeat(40), number: 901, key: 'beside it' });
    const concluded = await task();
    for (const { id } of [orphan, busy, concluded]) {
      await store.tasks.settle(id, 'failed', null);
      await store.tasks.finish(id);
      await store.publications.begin(`check:${id}`, 'check_run', id);
      await store.publications.done(`check:${id}`, {
        githubId: 1,
        detail: { annotated: [], concluded: id === concluded.id },
      });
    }
    expect(await reconcile()).not.toContain(`publish ${orphan.id}`); // it was written just now
    await database.db.update(publications).set({ sentAt: hourAgo() });
    const after = await reconcile();
    expect(after.filter((entry) => entry.startsWith('publish'))).toEqual([`publish ${orphan.id}`]);
  });

  it('forgets workers that are long gone, and wakes others for what is queued', async () => {
    const { id } = await task();
    await store.tasks.storePlan(id, newPlan(newRow('a')), planFacts);
    await advance(id);
    await store.workers.look('alive', { capacity: 1, claims: [], waitingMs: 0 });
    await database.db.insert(workers).values({ name: 'gone', capacity: 1, seenAt: hourAgo() });
    await database.db.update(attempts).set({ queuedAt: hourAgo() });
    const [attempt] = await database.db.select().from(attempts);
    expect(await reconcile()).toContain(`run ${attempt?.id}`);
    expect((await database.db.select().from(workers)).map(({ name }) => name)).toEqual(['alive']);
  });
});

describe('a look around', () => {
  it('tells which claims are gone, and whether something has waited', async () => {
    const ids = [await task(), await task()].map(({ id }) => id);
    for (const id of ids) {
      await store.tasks.storePlan(id, newPlan(newRow('a')), planFacts);
      await advance(id);
    }
    const look = (claims: Parameters<Store['workers']['look']>[1]['claims'], waitingMs: number) =>
      store.workers.look('w', { capacity: 2, claims, waitingMs });
    expect(await look([], 60_000)).toEqual({ gone: [], waiting: false });
    expect(await look([], -1)).toEqual({ gone: [], waiting: true });
    const [first = null] = await store.attempts.claimNext('w', { free: 1, most: 1 });
    const [second = null] = await store.attempts.claimNext('w', { free: 1, most: 1 });
    if (first === null || second === null) throw new Error('nothing to claim');
    const claims = [first.claim, second.claim];
    expect(await look(claims, -1)).toEqual({ gone: [], waiting: false });
    await store.tasks.settle(first.task.id, 'cancelled', null);
    await store.attempts.release(second.claim);
    await store.attempts.claimNext('another', { free: 1, most: 1 });
    expect(new Set((await look(claims, -1)).gone)).toEqual(new Set(claims.map(({ attemptId }) => attemptId)));
  });
});
