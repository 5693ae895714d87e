import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { eq } from 'drizzle-orm';
import { execa } from 'execa';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDeadCommand } from '../../../src/dead.ts';
import { bury } from '../../../src/store/dead-letters.ts';
import type { Store } from '../../../src/store/port.ts';
import { deadLetters, subtasks, tasks } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { inherited } from '../../support/app/start-app.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

/** The command line in a process of its own, beside a service that has the database open. */

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: Store;
let service: PoolClient;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
  // As a service does, which is never silent for long: the last process to leave would stop the server.
  service = await database.pool.connect();
});
afterAll(async () => {
  service.release();
  await store.close();
});

async function dead(...args: string[]) {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [main, 'dead', ...args], {
    reject: false,
    extendEnv: false,
    env: {
      ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])),
      PATCHFLEET_DATA: database.dataDir,
    },
  });
  return { exitCode, stdout, stderr };
}

let number = 0;
async function runningTask(...rows: ReturnType<typeof newRow>[]) {
  number += 1;
  const { task } = await store.tasks.create(
    newTask({ kind: 'fix', key: `fix:${number}`, number, headSha: String(number).padStart(40, '0') }),
  );
  if (rows.length > 0) {
    await store.tasks.beginPlanning(task.id);
    await store.tasks.storePlan(task.id, newPlan(...rows), planFacts);
  }
  return task;
}
const taskNow = async (id: string) => {
  const task = await store.tasks.get(id);
  return { phase: task?.phase, outcome: task?.outcome, failure: task?.failure?.code ?? null };
};
const letterOf = async (ref: string) => {
  const [letter] = await database.db.select().from(deadLetters).where(eq(deadLetters.ref, ref));
  if (letter === undefined) throw new Error(`no letter of ${ref}`);
  return letter;
};

describe('patchfleet dead', () => {
  it('says that nothing failed, what is wrong usage, and which ids are none', async () => {
    expect(await dead('list')).toMatchObject({ exitCode: 0, stdout: 'nothing failed for good' });
    expect(await dead('bury', 'x')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Usage') });
    for (const args of [[], ['show'], ['list', 'x'], ['drop', 'a', 'b']])
      expect(readDeadCommand(args)).toBeNull();
    expect(await dead('show', 'Zorro')).toMatchObject({
      exitCode: 1,
      stderr: '"zorro" is no id: see `patchfleet dead list`',
    });
    expect(await dead('retry', randomUUID())).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no dead letter'),
    });
  });

  it('lists, shows and retries a subtask: it waits again with what was skipped for its sake and what merges', async () => {
    const task = await runningTask(
      newRow('fine'),
      newRow('broken'),
      newRow('after', { dependsOn: [1] }),
      newRow('merge', { kind: 'integrate', waitsFor: 'end', dependsOn: [0, 1, 2] }),
    );
    const { db } = database;
    const rows = await db.select().from(subtasks).where(eq(subtasks.taskId, task.id)).orderBy(subtasks.row);
    const [fine, broken, after, merge] = rows.map(({ id }) => id);
    const end = (id: string | undefined, status: 'succeeded' | 'failed' | 'skipped') =>
      db
        .update(subtasks)
        .set({ status, finishedAt: new Date(), failures: 3, unmet: 0 })
        .where(eq(subtasks.id, id ?? ''));
    await end(fine, 'succeeded');
    await end(broken, 'failed');
    await end(after, 'skipped');
    await end(merge, 'succeeded');
    const detail = 'expected 1\n\u001b[31mto equal 2';
    await db.transaction((tx) =>
      bury(tx, {
        kind: 'subtask',
        ref: broken ?? '',
        taskId: task.id,
        failure: { code: 'verification_failed', detail },
        detail: { row: 1, title: 'broken' },
      }),
    );
    await store.tasks.settle(task.id, 'partial', null);
    await store.tasks.finish(task.id);
    await db
      .update(tasks)
      .set({ retriesUsed: 40, plannedAt: new Date(0) })
      .where(eq(tasks.id, task.id));

    const { id } = await letterOf(broken ?? '');
    const short = id.slice(0, 8);
    expect((await dead('list')).stdout.split('\n')).toEqual([
      'ID        KIND     CODE                 AGE  TASK',
      expect.stringMatching(
        new RegExp(
          `^${short} {2}subtask {2}verification_failed {2,}\\d+ (?:s|min) {2}fix of octo/sample#${task.number}$`,
        ),
      ),
    ]);
    const shown = await dead('show', short);
    expect(shown.stdout).toContain(`subtask ${broken}`);
    expect(shown.stdout).toContain('The checks of the repository fail with the patch');
    expect(shown.stdout).toContain('expected 1\n           \uFFFD[31mto equal 2');
    expect(shown.stdout).toContain('title: broken');
    expect(shown.stdout).toContain(`patchfleet dead retry ${short}`);

    const before = Date.now();
    expect(await dead('retry', short)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('due again'),
    });
    const now = await db.select().from(subtasks).where(eq(subtasks.taskId, task.id)).orderBy(subtasks.row);
    expect(now.map(({ status, failures, unmet }) => ({ status, failures, unmet }))).toEqual([
      { status: 'succeeded', failures: 3, unmet: 0 },
      { status: 'waiting', failures: 0, unmet: 0 },
      { status: 'waiting', failures: 0, unmet: 1 },
      { status: 'waiting', failures: 0, unmet: 2 },
    ]);
    expect(await taskNow(task.id)).toEqual({ phase: 'running', outcome: null, failure: null });
    expect(await store.due.tasks('running')).toMatchObject([{ id: task.id }]);
    const revived = await store.tasks.get(task.id);
    expect(revived?.retriesUsed).toBe(0);
    expect(revived?.plannedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(await dead('retry', short)).toMatchObject({
      exitCode: 1,
      stderr: 'not retried: it was retried already',
    });
    await store.tasks.settle(task.id, 'cancelled', { code: 'cancelled', detail: 'by the test' });
  });

  it('plans a task again', async () => {
    const task = await runningTask();
    await store.tasks.settle(task.id, 'failed', { code: 'plan_invalid', detail: 'no plan' });
    await store.tasks.finish(task.id);
    const { id } = await letterOf(task.id);
    expect((await dead('show', id)).stdout).toContain(`task ${task.id}`);
    expect(await dead('retry', id)).toMatchObject({ exitCode: 0 });
    expect(await taskNow(task.id)).toEqual({ phase: 'planning', outcome: null, failure: null });
    expect(await store.tasks.beginPlanning(task.id)).toBe(1);
    await store.tasks.settle(task.id, 'cancelled', null);
  });

  it('admits a delivery again', async () => {
    await store.deliveries.store({ id: 'd-1', event: 'pull_request', action: 'opened', body: '{}' });
    await store.deliveries.begin('d-1');
    await store.deliveries.giveUp('d-1', { code: 'github_unavailable', detail: 'down' });
    const { id, detail } = await letterOf('d-1');
    expect(detail).toMatchObject({ event: 'pull_request', action: 'opened', tries: 1, bytes: 2 });
    expect(await dead('retry', id)).toMatchObject({ exitCode: 0 });
    expect(await store.deliveries.get('d-1')).toMatchObject({
      status: 'received',
      attempts: 0,
      reason: null,
    });
    expect(await store.due.deliveries(-1)).toEqual(['d-1']);
  });

  it('publishes again, by its key or the whole task; what succeeds by itself is settled', async () => {
    const task = await runningTask(newRow('a'));
    await store.tasks.settle(task.id, 'partial', null);
    const failure = { code: 'github_refused' as const, detail: 'locked' };
    for (const key of ['reply:1', 'reply:2']) {
      await store.publications.begin(key, 'comment', task.id);
      await store.publications.fail(key, failure);
    }
    await store.tasks.giveUpPublishing(task.id, failure, { tries: 30 });
    await store.publications.done('reply:2', {});
    expect((await letterOf('reply:2')).status).toBe('retried');
    expect(await dead('retry', (await letterOf('reply:1')).id)).toMatchObject({ exitCode: 0 });
    // Nobody knows what became of it: it is looked for before it is written.
    expect(await store.publications.get('reply:1')).toMatchObject({ status: 'sending', failure: null });
    expect(await taskNow(task.id)).toMatchObject({ phase: 'publishing', outcome: 'partial' });
    await store.tasks.finish(task.id);
    expect(await dead('retry', (await letterOf(task.id)).id)).toMatchObject({ exitCode: 0 });
    expect(await store.due.tasks('publishing')).toContainEqual({ id: task.id, priority: 20 });
  });

  it('refuses to retry what was cancelled, and drops', async () => {
    const task = await runningTask(newRow('a'));
    await store.publications.begin('reply:3', 'comment', task.id);
    await store.publications.fail('reply:3', { code: 'github_refused', detail: 'locked' });
    await store.tasks.settle(task.id, 'superseded', null);
    const { id } = await letterOf('reply:3');
    expect(await dead('retry', id)).toMatchObject({
      exitCode: 1,
      stderr: 'not retried: its task was superseded: ask for it anew on GitHub',
    });
    expect(await dead('drop', id)).toMatchObject({ exitCode: 0 });
    expect(await dead('drop', id)).toMatchObject({
      exitCode: 1,
      stderr: 'not dropped: it was dropped already',
    });
    expect((await dead('list')).stdout).toBe('nothing failed for good');
    expect((await dead('show', id)).stdout).toContain('dropped at ');
  });
});
