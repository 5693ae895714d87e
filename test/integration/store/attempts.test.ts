import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { decideLimits } from '../../../src/scheduling/limits.ts';
import type { Store } from '../../../src/store/port.ts';
import { attempts, usage } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newFinding, newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: Store;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterAll(() => store.close());

const limits = decideLimits(limitsSchema.parse({}), { baseMib: 1024, ceilingMib: 4096 });
const advance = (taskId: string) =>
  store.graphs.advance(taskId, {
    parallel: () => 10,
    decide: (state, now) => decide(state, limits, now),
  });

let head = 0;
/** A running task with one started row. */
async function startedTask() {
  head += 1;
  const { task } = await store.tasks.create(
    newTask({ headSha: head.toString(16).padStart(40, '0'), number: head }),
  );
  await store.tasks.beginPlanning(task.id);
  await store.tasks.storePlan(task.id, newPlan(newRow('a')), planFacts);
  const advanced = await advance(task.id);
  const attemptId = advanced?.started[0]?.attemptId ?? '';
  return { task, attemptId };
}

const success = { findings: [newFinding()], refused: 0, summary: 'fine', turns: 3, artifacts: [] };

describe('attempts', () => {
  it('gives a claim to one worker alone', async () => {
    const { attemptId } = await startedTask();
    const claims = await Promise.all(
      ['w1', 'w2', 'w3', 'w4'].map((worker) => store.attempts.claim(attemptId, worker)),
    );
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  });

  it('stores findings and result, and the task settles as succeeded', async () => {
    const { task, attemptId } = await startedTask();
    const claimed = await store.attempts.claim(attemptId, 'w1');
    if (claimed === null) throw new Error('not claimed');
    expect(await store.attempts.started(claimed.claim, 'c1')).toBe(true);
    expect(await store.attempts.succeed(claimed.claim, success)).toBe(true);
    expect(await advance(task.id)).toMatchObject({ settled: true, started: [] });
    const view = await store.views.task(task.id);
    expect(view?.task).toMatchObject({ phase: 'publishing', outcome: 'succeeded' });
    expect(view?.subtasks).toMatchObject([{ status: 'succeeded', summary: 'fine' }]);
    expect(view?.findings).toMatchObject([{ path: 'a.js', rule: 'no-eval', position: 0 }]);
    expect(view?.attempts).toMatchObject([{ status: 'succeeded', containerId: 'c1', turns: 3, epoch: 1 }]);
  });

  it('stores as many findings as a linter may have', async () => {
    const { task, attemptId } = await startedTask();
    const claimed = await store.attempts.claim(attemptId, 'w1');
    if (claimed === null) throw new Error('not claimed');
    const findings = Array.from({ length: 9000 }, (_, index) =>
      newFinding({ startLine: index + 1, endLine: index + 1 }),
    );
    expect(await store.attempts.succeed(claimed.claim, { ...success, findings })).toBe(true);
    const stored = (await store.views.task(task.id))?.findings.map(({ position, startLine }) => [
      position,
      startLine,
    ]);
    expect(stored).toEqual(findings.map(({ startLine }, position) => [position, startLine]));
  });

  it('takes no claim over, however old its last sign of life: it is lost first, and that counts', async () => {
    const { task, attemptId } = await startedTask();
    const claimed = await store.attempts.claim(attemptId, 'w1');
    await database.db
      .update(attempts)
      .set({ heartbeatAt: new Date(0) })
      .where(eq(attempts.id, attemptId));
    expect(await store.attempts.claim(attemptId, 'w2')).toBeNull();
    expect(await store.due.loseAttempts(10_000)).toContain(task.id);
    expect(await store.attempts.claim(attemptId, 'w2')).toBeNull();
    expect(claimed === null || (await store.attempts.heartbeat(claimed.claim))).toBe(false);
    expect((await store.views.task(task.id))?.subtasks).toMatchObject([{ deaths: 1 }]);
  });

  it('refuses every word of a worker whose claim went to another', async () => {
    const { attemptId } = await startedTask();
    const first = await store.attempts.claim(attemptId, 'w1');
    if (first === null) throw new Error('not claimed');
    await store.attempts.release(first.claim);
    const second = await store.attempts.claim(attemptId, 'w2');
    if (second === null) throw new Error('not claimed');
    expect(second.claim.epoch).toBe(first.claim.epoch + 1);
    expect(await store.attempts.heartbeat(first.claim)).toBe(false);
    expect(await store.attempts.started(first.claim, 'c1')).toBe(false);
    expect(await store.attempts.succeed(first.claim, success)).toBe(false);
    expect(await store.attempts.fail(first.claim, { code: 'internal', detail: '' }, [])).toBe(false);
    expect(await store.attempts.heartbeat(second.claim)).toBe(true);
    expect(await store.attempts.succeed(second.claim, success)).toBe(true);
    expect(await store.attempts.succeed(second.claim, success)).toBe(false); // once
  });

  it('loses attempts without a sign of life, starts them again, and gives up after three deaths', async () => {
    const { task, attemptId } = await startedTask();
    let current = attemptId;
    for (const death of [1, 2, 3]) {
      await store.attempts.claim(current, `w${death}`);
      expect(await store.due.loseAttempts(60_000)).not.toContain(task.id);
      expect(await store.due.loseAttempts(-1)).toContain(task.id);
      const advanced = await advance(task.id);
      if (death < 3) {
        expect(advanced?.started).toHaveLength(1);
        current = advanced?.started[0]?.attemptId ?? '';
      } else expect(advanced).toMatchObject({ started: [], settled: true });
    }
    const view = await store.views.task(task.id);
    expect(view?.task.outcome).toBe('failed');
    expect(view?.subtasks).toMatchObject([{ status: 'failed', deaths: 3, failure: { code: 'worker_lost' } }]);
    expect(view?.attempts.map((attempt) => attempt.status)).toEqual(['lost', 'lost', 'lost']);
  });

  it('counts what a lost attempt had reserved as spent, by estimate', async () => {
    const { task, attemptId } = await startedTask();
    const claimed = await store.attempts.claim(attemptId, 'w1');
    if (claimed === null) throw new Error('not claimed');
    const context = { taskId: task.id, subtaskId: claimed.subtask.id, attemptId };
    const settled = await store.ledger.reserve(context, 'default', 'm', 500);
    await store.ledger.settle(
      settled ?? '',
      { promptTokens: 10, cachedTokens: 0, completionTokens: 5, estimated: false },
      3,
    );
    await store.ledger.reserve(context, 'default', 'm', 700);
    await store.ledger.reserve({ ...context, attemptId: task.id }, 'default', 'm', 900);
    expect(await store.due.loseAttempts(-1)).toContain(task.id);
    const rows = await database.db
      .select()
      .from(usage)
      .where(eq(usage.taskId, task.id))
      .orderBy(usage.tokens);
    expect(
      rows.map((row) => [row.tokens, row.state, row.estimated, row.costMicros, row.settledAt !== null]),
    ).toEqual([
      [15, 'settled', false, 3, true],
      [700, 'settled', true, 0, true],
      [900, 'reserved', false, 0, false],
    ]);
  });

  it('cancels what is open when the task is settled, and a late result does not count', async () => {
    const { task, attemptId } = await startedTask();
    const claimed = await store.attempts.claim(attemptId, 'w1');
    if (claimed === null) throw new Error('not claimed');
    expect(await store.tasks.settle(task.id, 'cancelled', null)).toBe(true);
    expect(await store.tasks.settle(task.id, 'cancelled', null)).toBe(false);
    expect(await store.attempts.heartbeat(claimed.claim)).toBe(false);
    expect(await store.attempts.succeed(claimed.claim, success)).toBe(false);
    expect(await advance(task.id)).toBeNull();
    expect((await store.views.task(task.id))?.findings).toEqual([]);
  });

  it('advances once however many replicas ask at the same moment', async () => {
    head += 1;
    const { task } = await store.tasks.create(
      newTask({ headSha: head.toString(16).padStart(40, '0'), number: head }),
    );
    await store.tasks.beginPlanning(task.id);
    const rows = ['a', 'b', 'c'].map((title) => newRow(title));
    await store.tasks.storePlan(task.id, newPlan(...rows, newRow('d', { dependsOn: [0, 1] })), planFacts);
    const all = await Promise.all(Array.from({ length: 8 }, () => advance(task.id)));
    expect(all.flatMap((advanced) => advanced?.started ?? [])).toHaveLength(3);
    const view = await store.views.task(task.id);
    expect(view?.subtasks.map((subtask) => [subtask.status, subtask.unmet])).toEqual([
      ['running', 0],
      ['running', 0],
      ['running', 0],
      ['waiting', 2],
    ]);
  });
});
