import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { decideLimits } from '../../../src/scheduling/limits.ts';
import { defaultClaimLimits } from '../../../src/store/claim-next.ts';
import type { Store } from '../../../src/store/port.ts';
import { subtasks } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: Store;
beforeAll(async () => {
  database = await openTestDatabase();
  // Workers live for as long as the test takes.
  const claims = { ...defaultClaimLimits, leaseMs: 3_600_000 };
  store = createStore(database, { taskTokens: 1_000_000, claims, onError: () => {} });
});
afterAll(() => database.close());

const limits = decideLimits(limitsSchema.parse({}), { baseMib: 1024, ceilingMib: 4096 });
const look = (worker: string) => store.workers.look(worker, { capacity: 8, claims: [], waitingMs: 1000 });

it('what a worker will want next is what it has not begun and its share of what may start', async () => {
  const { task } = await store.tasks.create(newTask({ kind: 'fix', key: 'fix:7:1:1' }));
  const { task: other } = await store.tasks.create(newTask({ kind: 'fix', key: 'fix:7:2:1' }));
  const coming = async (worker: string) =>
    (await store.attempts.comingUp([task.id, other.id], { worker, most: 8 })).map(({ taskId, ...row }) => {
      expect(taskId).toBe(task.id);
      return row;
    });
  expect(await coming('one')).toEqual([]);
  const alone = ['a', 'b', 'c', 'd', 'e'].map((name) => newRow(name));
  await store.tasks.beginPlanning(task.id);
  // One builds on another, one is the system's own.
  const plan = newPlan(...alone, newRow('f', { dependsOn: [0] }), newRow('g', { kind: 'integrate' }));
  await store.tasks.storePlan(task.id, plan, planFacts);
  const { db } = database;
  await db.update(subtasks).set({ memoryMib: 2048 }).where(eq(subtasks.title, 'e'));
  await look('one');
  expect(await coming('one')).toEqual([
    { memoryMib: 2048, count: 1 },
    { memoryMib: null, count: 4 },
  ]);

  // Two start: the share of two workers is half of what nobody has.
  await look('two');
  const started = await store.graphs.advance(task.id, {
    parallel: () => 2,
    decide: (state, now) => decide(state, limits, now),
  });
  const claims = await Promise.all(
    (started?.started ?? []).map(({ attemptId }) => store.attempts.claim(attemptId, 'one')),
  );
  expect(claims.map((work) => work?.subtask.title)).toEqual(['a', 'b']);
  const half = [
    { memoryMib: 2048, count: 1 },
    { memoryMib: null, count: 1 },
  ];
  expect(await coming('two')).toEqual(half);
  expect(await coming('one')).toEqual([
    { memoryMib: 2048, count: 1 },
    { memoryMib: null, count: 3 },
  ]);
  for (const work of claims) if (work !== null) await store.attempts.started(work.claim, 'container');
  expect(await coming('one')).toEqual(half);

  // A re-run stands on a commit of its own.
  await db
    .update(subtasks)
    .set({ base: 'c'.repeat(40) })
    .where(eq(subtasks.title, 'e'));
  expect(await coming('one')).toEqual([{ memoryMib: null, count: 1 }]);
  await store.tasks.settle(task.id, 'cancelled', null);
  expect(await coming('one')).toEqual([]);
});
