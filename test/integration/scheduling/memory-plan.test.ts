import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { createPlanJob, type PlanJobDependencies } from '../../../src/planning/plan-job.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { decideLimits } from '../../../src/scheduling/limits.ts';
import type { Store } from '../../../src/store/port.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

const memory = { baseMib: 512, ceilingMib: 2048 };
const { limits } = operatorConfigSchema.parse({});
let store: Store;
beforeAll(async () => {
  store = createStore(await openTestDatabase(), { taskTokens: 1_000_000, onError: () => {} });
});
afterAll(() => store.close());

/** Plans a fix of one row; everything but what decides on the memory is made up. */
async function plan(key: string): Promise<string> {
  const { mergeBase, skipped } = planFacts;
  const coverage = { changedFiles: 0, reviewedFiles: 0, skippedFiles: 0, additions: 0, deletions: 0 };
  const planned = {
    plan: newPlan(newRow('a')),
    skipped,
    mergeBase,
    coverage,
    tree: { files: 5, packages: 1 },
  };
  const { task } = await store.tasks.create(newTask({ kind: 'fix', key }));
  const job = createPlanJob({
    ...{ store, limits, memory },
    queue: { enqueue: async () => {}, enqueueRun: async () => {} },
    changePlanner: { plan: async () => planned },
    agents: [{ name: 'reviewer', kind: 'command' }],
    startAhead: { whilePlanning: () => () => {}, changed: () => {} },
    log: { info: () => {}, warn: () => {} },
  } as unknown as PlanJobDependencies);
  await job(task.id, new AbortController().signal);
  return task.id;
}
const needed = (key: string, peakMib: number) =>
  store.verifications.put(key, { tree: key, commands: [], peakMib }, newTask().repositoryId);

it('a row is given what verifications needed, takes as much of a worker, and is refused beyond the ceiling', async () => {
  const rows = async (taskId: string) =>
    (await store.views.task(taskId))?.subtasks.map(({ memoryMib, weight }) => [memoryMib, weight]);
  expect(await rows(await plan('nothing is known'))).toEqual([[null, 1]]);

  await needed('one', 900);
  const taskId = await plan('much was needed');
  expect(await rows(taskId)).toEqual([[2048, 4]]);
  await store.graphs.advance(taskId, {
    parallel: () => 1,
    decide: (state, now) => decide(state, decideLimits(limits, memory), now),
  });
  expect(await store.attempts.claimNext('w', { free: 3, capacity: 8, most: 1 })).toEqual([]);
  const [work] = await store.attempts.claimNext('w', { free: 4, capacity: 8, most: 1 });
  expect(work?.subtask).toMatchObject({ taskId, memoryMib: 2048 });

  // The operator has lowered the ceiling since.
  await needed('other', 3000);
  const refused = await store.views.task(await plan('too much was needed'));
  expect(refused).toMatchObject({
    task: {
      outcome: 'failed',
      failure: {
        code: 'memory_ceiling',
        detail:
          'verifications of this repository needed 3000 MiB, and the operator allows 2048 MiB (`sandbox.memory_ceiling_mib`)',
      },
    },
    subtasks: [],
  });
});
