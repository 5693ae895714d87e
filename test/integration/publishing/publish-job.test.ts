import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { createPublishJob } from '../../../src/publishing/publish-job.ts';
import type { JobOptions } from '../../../src/scheduling/port.ts';
import { audit } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newTask, planFacts } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: ReturnType<typeof createStore>;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterAll(() => store.close());

const down = new PatchfleetError('github_unavailable', 'no answer');
const never = new AbortController().signal;

let head = 0;
async function runningTask() {
  head += 1;
  const { task } = await store.tasks.create(
    newTask({ headSha: head.toString(16).padStart(40, '0'), number: head }),
  );
  await store.tasks.storePlan(task.id, newPlan(), planFacts);
  return task;
}

/** The job over real rows, with a publisher that does as `publish` says. */
function jobOf(publish: () => Promise<void>) {
  const asked: (JobOptions | undefined)[] = [];
  const errors: unknown[] = [];
  let calls = 0;
  const job = createPublishJob({
    store,
    publisher: {
      publish: () => {
        calls += 1;
        return publish();
      },
    },
    queue: { enqueue: async (_kind, _id, options) => void asked.push(options), enqueueRun: async () => {} },
    log: pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) }),
  });
  return { job, asked, errors, calls: () => calls };
}

const failing = () => jobOf(() => Promise.reject(down));

/** Its pause ends at that time of the database. */
const pauseUntil = (id: string, time: string) =>
  database.pool.query(`update tasks set publish_after = ${time} where id = $1`, [id]);
const over = `now() - interval '1 microsecond'`;
const notYet = `now() + interval '1 hour'`;

describe('publishing that fails', () => {
  it('pauses, longer each time; who asks before the pause is over gets nothing', async () => {
    const task = await runningTask();
    await store.tasks.settle(task.id, 'succeeded', null);
    const { job, asked, calls } = failing();
    await job(task.id, never);
    await pauseUntil(task.id, notYet);
    await job(task.id, never);
    expect([calls(), asked]).toEqual([1, [{ priority: 20, delayMs: 1000 }]]);
    await pauseUntil(task.id, over);
    await job(task.id, never);
    expect([calls(), asked.at(-1)]).toEqual([2, { priority: 20, delayMs: 2000 }]);
    expect(await store.tasks.get(task.id)).toMatchObject({ phase: 'publishing', publishTries: 2 });
  });

  it('is due for the reconciler once its pause is over', async () => {
    const task = await runningTask();
    await store.tasks.settle(task.id, 'succeeded', null);
    const due = async () => (await store.due.tasks('publishing')).some(({ id }) => id === task.id);
    const { job } = failing();
    await job(task.id, never);
    const { rows } = await database.pool.query<{ ms: number }>(
      `select extract(epoch from publish_after - updated_at)::float8 * 1000 as ms from tasks where id = $1`,
      [task.id],
    );
    expect(rows).toEqual([{ ms: 1000 }]);
    await pauseUntil(task.id, notYet);
    expect(await due()).toBe(false);
    await pauseUntil(task.id, over);
    expect(await due()).toBe(true);
  });

  it('holds back no work, and is forgotten when the task settles', async () => {
    const task = await runningTask();
    const { job } = failing();
    await job(task.id, never);
    expect((await store.due.tasks('running')).map(({ id }) => id)).toContain(task.id);
    await store.tasks.settle(task.id, 'succeeded', null);
    expect(await store.tasks.get(task.id)).toMatchObject({ publishTries: 0, publishAfter: null });
  });

  it('of a task that settled meanwhile does not delay its result', async () => {
    const task = await runningTask();
    const { job, asked } = jobOf(async () => {
      await store.tasks.settle(task.id, 'cancelled', null);
      throw down;
    });
    await job(task.id, never);
    expect(await store.tasks.get(task.id)).toMatchObject({ publishTries: 0, publishAfter: null });
    expect(asked).toEqual([]);
  });

  it('is counted once, however many replicas fail at the same moment', async () => {
    const task = await runningTask();
    const together = Promise.withResolvers<void>();
    let inside = 0;
    const { job } = jobOf(async () => {
      inside += 1;
      if (inside === 3) together.resolve();
      await together.promise;
      throw down;
    });
    await Promise.all([1, 2, 3].map(() => job(task.id, never)));
    expect(await store.tasks.get(task.id)).toMatchObject({ publishTries: 1 });
  });

  it('is forgotten when it succeeds', async () => {
    const task = await runningTask();
    let broken = true;
    const { job } = jobOf(async () => {
      if (broken) throw down;
    });
    await job(task.id, never);
    broken = false;
    await pauseUntil(task.id, over);
    await job(task.id, never);
    expect(await store.tasks.get(task.id)).toMatchObject({ publishTries: 0, publishAfter: null });
  });

  it('because the process shuts down does not count', async () => {
    const task = await runningTask();
    const shutdown = new AbortController();
    const { job, asked } = jobOf(async () => {
      shutdown.abort();
      throw down;
    });
    await expect(job(task.id, shutdown.signal)).rejects.toBe(down);
    expect(await store.tasks.get(task.id)).toMatchObject({ publishTries: 0, publishAfter: null });
    expect(asked).toEqual([]);
  });

  it('thirty times in a row ends the task, and says what is missing and why', async () => {
    const task = await runningTask();
    await store.tasks.settle(task.id, 'succeeded', null);
    await store.publications.begin(`review:${task.id}`, 'review', task.id);
    await store.publications.begin(`check:${task.id}`, 'check_run', task.id);
    await store.publications.done(`check:${task.id}`, { githubId: 1 });
    const { job, asked, errors, calls } = failing();
    for (let round = 0; round < 40; round += 1) {
      await job(task.id, never);
      await pauseUntil(task.id, over);
      if ((await store.tasks.get(task.id))?.phase === 'finished') break;
    }
    expect([calls(), asked.length]).toEqual([30, 29]);
    const [entry, ...more] = await database.db.select().from(audit).where(eq(audit.subject, task.id));
    expect(more).toEqual([]);
    const what = `review of octo/sample#${task.number}`;
    expect(entry).toMatchObject({
      actor: 'patchfleet',
      action: 'publishing.failed',
      detail: {
        what,
        outcome: 'succeeded',
        unpublished: [`review:${task.id}`],
        tries: 30,
        reason: 'github_unavailable: no answer',
      },
    });
    expect(errors).toMatchObject([
      { msg: 'publishing was given up', task: task.id, what, unpublished: [`review:${task.id}`], tries: 30 },
    ]);
  });
});
