import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/port.ts';
import { subtasks } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: Store;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterAll(() => store.close());

const sha = (digit: string) => digit.repeat(40);

describe('tasks', () => {
  it('makes one task of the same key, however many replicas create it at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => store.tasks.create(newTask())));
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(made.map(({ task }) => task.id)).size).toBe(1);
  });

  it('supersedes the open reviews of the same pull request, and no others', async () => {
    const old = await store.tasks.create(newTask({ number: 2, headSha: sha('1') }));
    const other = await store.tasks.create(newTask({ number: 3, headSha: sha('2') }));
    const next = await store.tasks.create(newTask({ number: 2, headSha: sha('3') }));
    expect(next).toMatchObject({ created: true, superseded: [old.task.id] });
    expect(await store.tasks.get(old.task.id)).toMatchObject({ phase: 'publishing', outcome: 'superseded' });
    expect(await store.tasks.get(other.task.id)).toMatchObject({ phase: 'planning', outcome: null });
  });

  it('shows the reviews of a head, whatever else works on it', async () => {
    const headSha = sha('b');
    const review = await store.tasks.create(newTask({ number: 20, headSha, key: 'review:b' }));
    await store.tasks.create(newTask({ kind: 'fix', number: 20, headSha, key: 'fix:b' }));
    await store.tasks.create(newTask({ kind: 'campaign', number: 0, headSha, key: 'campaign:b' }));
    const views = await store.views.head(7, headSha);
    expect(views.map(({ task }) => task.id)).toEqual([review.task.id]);
  });

  it('leaves exactly one open review when many heads come at once', async () => {
    const heads = Array.from({ length: 12 }, (_, index) => sha(index.toString(16)));
    await Promise.all(
      heads.map((headSha) =>
        store.tasks.create(newTask({ number: 4, headSha, key: `review:7:4:${headSha}` })),
      ),
    );
    const phases = (await store.tasks.ofPull(7, 4)).map((task) => task.phase);
    expect(phases.filter((phase) => phase === 'planning')).toHaveLength(1);
    expect(phases).toHaveLength(12);
  });

  it('sends a task that is over before it began straight to publishing', async () => {
    const failure = { code: 'config_invalid', detail: 'review.fail_on' } as const;
    const { task } = await store.tasks.create(
      newTask({ number: 5, headSha: sha('5'), failure, config: null }),
    );
    expect(task).toMatchObject({ phase: 'publishing', outcome: 'failed', failure });
    expect(await store.tasks.beginPlanning(task.id)).toBeNull();
  });

  it('stores a plan once, and never into a task that was settled meanwhile', async () => {
    const { task } = await store.tasks.create(newTask({ number: 6, headSha: sha('6') }));
    expect(await store.tasks.beginPlanning(task.id)).toBe(1);
    expect(await store.tasks.beginPlanning(task.id)).toBe(2);
    const plan = newPlan(newRow('a'), newRow('b', { dependsOn: [0] }));
    expect(await store.tasks.storePlan(task.id, plan, planFacts)).toBe(true);
    expect(await store.tasks.storePlan(task.id, plan, planFacts)).toBe(false);
    expect((await store.views.task(task.id))?.subtasks.map((row) => row.title)).toEqual(['a', 'b']);

    const { task: shown } = await store.tasks.create(
      newTask({ kind: 'fix', key: 'plan:9', number: 9, planOnly: true }),
    );
    expect(await store.tasks.storePlan(shown.id, plan, planFacts)).toBe(true);
    const view = await store.views.task(shown.id);
    expect(view?.task).toMatchObject({ phase: 'publishing', outcome: 'succeeded', failure: null });
    expect(view?.subtasks.map(({ title, status }) => [title, status])).toEqual([
      ['a', 'skipped'],
      ['b', 'skipped'],
    ]);
    const [first, second] = view?.subtasks ?? [];
    expect(await store.views.dependencies(shown.id)).toEqual([
      { subtaskId: second?.id, dependsOn: first?.id },
    ]);

    const { task: gone } = await store.tasks.create(newTask({ number: 8, headSha: sha('8') }));
    await store.tasks.settle(gone.id, 'cancelled', null);
    expect(await store.tasks.storePlan(gone.id, plan, planFacts)).toBe(false);
  });
});

describe('integrating again', () => {
  it('begins with a clean count of failures and deaths, and no pause of publishing', async () => {
    const { task } = await store.tasks.create(newTask({ kind: 'fix', key: 'fix:again', number: 40 }));
    await store.tasks.storePlan(task.id, newPlan(newRow('merge', { kind: 'integrate' })), planFacts);
    await store.tasks.settle(task.id, 'succeeded', null);
    const [row] = (await store.views.task(task.id))?.subtasks ?? [];
    await database.db
      .update(subtasks)
      .set({ status: 'succeeded', failures: 2, deaths: 2 })
      .where(eq(subtasks.taskId, task.id));
    await store.tasks.pausePublishing({ ...task, phase: 'publishing' }, 60_000);
    expect(await store.tasks.reopenIntegration(task.id, row?.id ?? '')).toBe(true);
    const view = await store.views.task(task.id);
    expect(view?.task).toMatchObject({ phase: 'running', publishTries: 0, publishAfter: null });
    expect(view?.subtasks).toMatchObject([{ status: 'waiting', failures: 0, deaths: 0 }]);
  });
});

describe('what is due', () => {
  it('names tasks by phase until they are finished', async () => {
    const { task } = await store.tasks.create(newTask({ number: 9, headSha: sha('9') }));
    const ids = async (phase: 'planning' | 'running' | 'publishing') =>
      (await store.due.tasks(phase)).map(({ id }) => id);
    expect(await ids('planning')).toContain(task.id);
    await store.tasks.storePlan(task.id, newPlan(), planFacts);
    expect(await ids('running')).toContain(task.id);
    await store.tasks.settle(task.id, 'succeeded', null);
    expect(await ids('publishing')).toContain(task.id);
    await store.tasks.finish(task.id);
    expect(await ids('publishing')).not.toContain(task.id);
  });
});

describe('a batch that gathers', () => {
  const issue = (number: number) => ({ number, title: `Issue ${number}`, body: '' });
  const batch = (key: string) => newTask({ kind: 'batch', key, repositoryId: 30 });
  const limits = { maxIssues: 10, quietMs: 60_000 };

  it.each([
    ['begins', "phase = 'planning'"],
    ['is cancelled', "phase = 'publishing', outcome = 'cancelled'"],
  ])('and %s at the moment an issue comes takes it no more', async (what, change) => {
    const { task: old } = await store.tasks.gather(batch(`one:${what}`), issue(1), limits);
    const other = await database.pool.connect();
    await other.query('begin');
    await other.query(`update tasks set ${change} where id = $1`, [old.id]);
    const gathering = store.tasks.gather(batch(`two:${what}`), issue(2), limits);
    await expect
      .poll(async () => (await other.query('select 1 from pg_locks where not granted')).rowCount)
      .toBeGreaterThan(0);
    await other.query('commit');
    other.release();
    const { task, created } = await gathering;
    expect({ created, issues: task.issues }).toEqual({ created: true, issues: [issue(2)] });
    expect(await store.tasks.get(old.id)).toMatchObject({ issues: [issue(1)], startAfter: old.startAfter });
    await store.tasks.settle(task.id, 'cancelled', null);
    await store.tasks.finish(task.id);
  });
});

describe('named locks', () => {
  it('let one holder in at a time, and a try fails at once', async () => {
    let inside = 0;
    let most = 0;
    const hold = () =>
      store.withLock('a', async () => {
        inside += 1;
        most = Math.max(most, inside);
        await store.tasks.get('00000000-0000-0000-0000-000000000000');
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 30 }, hold));
    expect(most).toBe(1);
    const [outer, inner] = await store.withLock('b', async () => [
      await store.tryLock('c', async () => 'free'),
      await store.tryLock('b', async () => 'never'),
    ]);
    expect([outer, inner]).toEqual(['free', null]);
  });

  it('are freed when the work fails', async () => {
    await expect(store.withLock('d', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await store.tryLock('d', async () => 'free')).toBe('free');
  });
});
