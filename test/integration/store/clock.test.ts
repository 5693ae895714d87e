import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { GraphState } from '../../../src/domain/graph.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: ReturnType<typeof createStore>;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterEach(() => {
  vi.useRealTimers();
  return database.pool.query('truncate tasks, workers, dead_letters cascade');
});
afterAll(() => store.close());

const minute = 60_000;
const hour = 60 * minute;
const waitAnHour = { maxIssues: 10, quietMs: hour };

/** The machine of this process is that far ahead of the database's. */
const setAhead = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

/** What has happened by the clock of the database: nothing of it is due before half an hour is over. */
async function begin() {
  const { task } = await store.tasks.create(newTask());
  await store.tasks.storePlan(task.id, newPlan(newRow('one'), newRow('two')), planFacts);
  const advanced = await store.graphs.advance(task.id, {
    parallel: () => 2,
    decide: (state) =>
      state.step === 'ready' ? state.ready.map((id) => ({ type: 'start' as const, id })) : [],
  });
  await store.workers.look('other', { capacity: 4, claims: [], waitingMs: minute });
  const [claimed] = await store.attempts.claimNext('other', { free: 1, most: 1 });
  const issue = { number: 3, title: 'Three', body: '' };
  const batch = newTask({ kind: 'batch', key: 'batch', number: 3 });
  const { task: gathering } = await store.tasks.gather(batch, issue, waitAnHour);
  const { task: paused } = await store.tasks.create(newTask({ key: 'paused', number: 4, done: true }));
  await store.tasks.pausePublishing(paused, hour);
  return { task, claimed, gathering, paused, queued: (advanced?.started.length ?? 0) - 1 };
}

/** Moves all of that into the past, by the clock of the database. */
async function passAnHour() {
  for (const [table, column] of [
    ['attempts', 'heartbeat_at'],
    ['attempts', 'queued_at'],
    ['workers', 'seen_at'],
    ['tasks', 'planned_at'],
    ['tasks', 'start_after'],
    ['tasks', 'publish_after'],
  ])
    await database.pool.query(`update ${table} set ${column} = ${column} - interval '61 minutes'`);
}

/** What a process finds due after half an hour. */
async function due({ task, paused, gathering }: Awaited<ReturnType<typeof begin>>) {
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const { waiting } = await store.workers.look('mine', { capacity: 4, claims: [], waitingMs: 30 * minute });
  return {
    waiting,
    alive: await store.workers.isAlive('other', 30 * minute),
    attempts: (await store.due.attempts(30 * minute)).length,
    publishing: ids(await store.due.tasks('publishing')).includes(paused.id),
    toPublish: (await store.tasks.toPublish(paused.id)) !== null,
    released: ids(await store.tasks.releaseDue()).includes(gathering.id),
    lost: (await store.due.loseAttempts(30 * minute)).includes(task.id),
    overdue: (await store.due.endOverdue(30 * minute)).includes(task.id),
  };
}

const nothing = {
  ...{ waiting: false, alive: true, attempts: 0, publishing: false, toPublish: false },
  ...{ released: false, lost: false, overdue: false },
};
const everything = {
  ...{ waiting: true, alive: false, attempts: 1, publishing: true, toPublish: true },
  ...{ released: true, lost: true, overdue: true },
};

/** The times that the last test gives rows. */
const written = [
  ...['agent_started_at', 'claimed_at', 'finished_at', 'heartbeat_at', 'queued_at'].map(
    (at) => `attempts.${at}`,
  ),
  'dead_letters.created_at',
  ...['finished_at', 'not_before', 'started_at'].map((at) => `subtasks.${at}`),
  ...[
    'created_at',
    'finished_at',
    'planned_at',
    'publish_after',
    'settled_at',
    'start_after',
    'updated_at',
  ].map((at) => `tasks.${at}`),
  ...['seen_at', 'started_at'].map((at) => `workers.${at}`),
];

describe.each([
  ['of a process that is two hours ahead', 2 * hour],
  ['of a process that is two hours behind', -2 * hour],
])('the clock %s', (_, ahead) => {
  it('neither hastens nor delays what others wrote', async () => {
    const begun = await begin();
    expect([begun.claimed?.task.id, begun.queued]).toEqual([begun.task.id, 1]);
    setAhead(ahead);
    expect(await due(begun)).toEqual(nothing);
    await passAnHour();
    expect(await due(begun)).toEqual(everything);
  });

  it('is in nothing that it writes', async () => {
    setAhead(ahead);
    const begun = await begin();
    vi.useRealTimers();
    expect(await due(begun)).toEqual(nothing);
    await passAnHour();
    expect(await due(begun)).toEqual(everything);
  });

  it('is in no time of any row', async () => {
    setAhead(ahead);
    const { claimed, task, gathering } = await begin();
    if (claimed === undefined) throw new Error('nothing was claimed');
    await store.attempts.started(claimed.claim, 'c1');
    await store.attempts.fail(claimed.claim, { code: 'internal', detail: '' }, []);
    const failed = (state: GraphState) => (state.step === 'ended' ? state.ended : []);
    const retry = { type: 'retry', counted: true } as const;
    await store.graphs.advance(task.id, {
      parallel: () => 2,
      decide: (state, at) => failed(state).map(({ id }) => ({ ...retry, id, notBefore: at + 1000 })),
    });
    await store.tasks.release(gathering.id);
    await store.tasks.settle(gathering.id, 'failed', { code: 'internal', detail: '' });
    await store.tasks.settle(task.id, 'cancelled', null);
    await store.tasks.finish(task.id);
    const { rows: columns } = await database.pool.query<{ t: string; c: string }>(
      `select table_name as t, column_name as c from information_schema.columns
        where table_schema = 'public' and data_type = 'timestamp with time zone' order by 1, 2`,
    );
    const far: string[] = [];
    const seen: string[] = [];
    for (const { t, c } of columns) {
      const { rows } = await database.pool.query<{ n: number; far: number }>(
        `select count(${c})::int as n,
                (count(*) filter (where ${c} < now() - interval '30 minutes' or ${c} > now() + interval '90 minutes'))::int as far
           from ${t}`,
      );
      if ((rows[0]?.n ?? 0) > 0) seen.push(`${t}.${c}`);
      if ((rows[0]?.far ?? 0) > 0) far.push(`${t}.${c}`);
    }
    expect(far).toEqual([]);
    expect(seen).toEqual(written);
  });
});
