import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import { toFailure } from '../../../src/domain/failure.ts';
import { runChecks } from '../../../src/merging/run-checks.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { decideLimits } from '../../../src/scheduling/limits.ts';
import type { Store } from '../../../src/store/port.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';
import { createSetting, never, type Setting } from '../sandbox/docker-setting.ts';

const memory = { baseMib: 128, ceilingMib: 400 };
let store: Store;
let setting: Setting;
beforeAll(async () => {
  store = createStore(await openTestDatabase(), { taskTokens: 1_000_000, onError: () => {} });
  setting = createSetting({ memory_mib: memory.baseMib, memory_ceiling_mib: memory.ceilingMib });
});
afterAll(async () => {
  await setting.end();
  await store.close();
});

/**
 * A check that needs so much memory, in a worker of its runner, which makes a plain failure of it. It holds it for longer
 * than a busy machine stands still: how much it was is told by looks.
 */
const needing = (mib: number) => {
  const hold = `held = b"x" * (${mib} * 1024 * 1024); import time; time.sleep(4)`;
  return { name: 'test', argv: ['sh', '-c', `python3 -c '${hold}' || exit 1`], cwd: '' };
};

it('checks that run out of memory are tried again with more, to the ceiling, and no further', async () => {
  const { task } = await store.tasks.create(newTask({ kind: 'fix', key: 'memory-retry' }));
  await store.tasks.storePlan(task.id, newPlan(newRow('fits'), newRow('never fits')), planFacts);
  const limits = decideLimits(limitsSchema.parse({}), memory);
  const advance = () =>
    store.graphs.advance(task.id, { parallel: () => 2, decide: (state, now) => decide(state, limits, now) });
  const snapshot = setting.snapshot({ 'a.txt': 'a' });
  const tried: [number, number | null, string][] = [];
  const peaks: unknown[] = [];
  await advance();
  for (;;) {
    const [work] = await store.attempts.claimNext('w', { free: 8, most: 1 });
    if (work === undefined) break;
    const { claim, subtask } = work;
    const { memoryMib } = subtask;
    const commands = [needing(subtask.row === 0 ? 130 : 500)];
    const kind = { snapshot, ...(memoryMib === null ? {} : { memoryMib }) };
    const request = { taskId: task.id, attemptId: claim.attemptId, kind, commands, commandMs: 60_000 };
    try {
      const { peakMib } = await runChecks(setting.sandboxes, request, never);
      tried.push([subtask.row, memoryMib, 'passed']);
      peaks.push(peakMib);
      await store.attempts.succeed(claim, { summary: 'done', turns: 0, artifacts: [] });
    } catch (thrown) {
      const failure = toFailure(thrown);
      tried.push([subtask.row, memoryMib, failure.code]);
      await store.attempts.fail(claim, failure, []);
    }
    await advance();
  }
  const ofRow = (wanted: number) => tried.filter((each) => each[0] === wanted);
  expect(ofRow(0)).toEqual([
    [0, null, 'memory_exhausted'],
    [0, 256, 'passed'],
  ]);
  expect(ofRow(1)).toEqual([
    [1, null, 'memory_exhausted'],
    [1, 256, 'memory_exhausted'],
    [1, 400, 'memory_exhausted'],
  ]);
  expect(peaks).toEqual([expect.toSatisfy((mib: number) => mib >= 130 && mib <= 256)]);
  const view = await store.views.task(task.id);
  expect(view?.subtasks).toMatchObject([
    { status: 'succeeded', memoryMib: 256, weight: 2, failures: 0 },
    { status: 'failed', memoryMib: 400, failure: { code: 'memory_ceiling' } },
  ]);
  expect(view?.task).toMatchObject({ outcome: 'partial', retriesUsed: 0 });
  const request = { taskId: task.id, attemptId: 'a', snapshot, wallMs: 1000, memoryMib: 401 };
  await expect(setting.sandboxes.acquire(request, never)).rejects.toMatchObject({ code: 'memory_ceiling' });
});
