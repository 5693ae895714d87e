import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import type { ModelMessage } from '../../../src/inference/port.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { decideLimits } from '../../../src/scheduling/limits.ts';
import type { Claim } from '../../../src/store/port/attempts.ts';
import type { Store } from '../../../src/store/port.ts';
import { checkpoints } from '../../../src/store/schema.ts';
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

const limits = decideLimits(limitsSchema.parse({}), { baseMib: 1024, ceilingMib: 4096 });
const advance = (taskId: string) =>
  store.graphs.advance(taskId, {
    parallel: () => 1000,
    decide: (state, now) => decide(state, limits, now),
  });

let head = 0;
/** Claimed attempts of a task with that many rows. */
async function claimed(rows = 1) {
  head += 1;
  const { task } = await store.tasks.create(
    newTask({ headSha: head.toString(16).padStart(40, '0'), number: head }),
  );
  await store.tasks.beginPlanning(task.id);
  await store.tasks.storePlan(
    task.id,
    newPlan(...Array.from({ length: rows }, (_, index) => newRow(`row${index}`))),
    planFacts,
  );
  const started = (await advance(task.id))?.started ?? [];
  return await Promise.all(started.map(({ attemptId }) => claim(attemptId)));
}

async function claim(attemptId: string) {
  const work = await store.attempts.claim(attemptId, 'w1');
  if (work === null) throw new Error('not claimed');
  return work;
}

async function one() {
  const [work] = await claimed();
  if (work === undefined) throw new Error('nothing was started');
  return work;
}

/** NUL and half a surrogate pair are what Postgres' own JSON refuses. */
const said = (turn: number): ModelMessage[] => [
  {
    role: 'assistant',
    content: `turn ${turn} \0 \ud800`,
    toolCalls: [{ id: 'c', name: 'read', arguments: '{}' }],
  },
  { role: 'tool', toolCallId: 'c', content: 'text' },
];
const turn = (number: number, patch: string | null = null, beginning = 'b1') => ({
  turn: number,
  beginning,
  messages: said(number),
  tokens: 100 + number,
  patch: patch === null ? null : Buffer.from(patch, 'latin1'),
});
const save = (by: Claim, ...args: Parameters<typeof turn>) => store.checkpoints.save(by, turn(...args));

describe('checkpoints', () => {
  it('give all turns in order, with the newest patch', async () => {
    const work = await one();
    expect(await store.checkpoints.load(work.subtask.id)).toBeNull();
    expect(await save(work.claim, 1)).toBe(true);
    expect(await save(work.claim, 2, '\0\xff first')).toBe(true);
    expect(await save(work.claim, 3, '\0\xff second')).toBe(true);
    expect(await save(work.claim, 4)).toBe(true);
    expect(await store.checkpoints.load(work.subtask.id)).toEqual({
      beginning: 'b1',
      attemptId: work.attempt.id,
      turns: [1, 2, 3, 4].map((number) => ({
        turn: number,
        messages: said(number),
        tokens: 100 + number,
      })),
      patch: Buffer.from('\0\xff second', 'latin1'),
      earlier: null,
    });
  });

  it('keep one patch, the newest', async () => {
    const work = await one();
    await save(work.claim, 1, 'a');
    await save(work.claim, 2, 'b');
    const rows = await database.db.select().from(checkpoints).orderBy(checkpoints.turn);
    const kept = rows.filter(({ subtaskId }) => subtaskId === work.subtask.id).map(({ patch }) => patch);
    expect(kept.map((patch) => (patch === null ? null : String(patch)))).toEqual([null, 'b']);
  });

  it('are refused once the claim is gone, and then change nothing', async () => {
    const work = await one();
    await save(work.claim, 1, 'a');
    await store.attempts.release(work.claim);
    expect(await save(work.claim, 2, 'b')).toBe(false);
    await store.checkpoints.clear(work.claim);
    expect(await store.checkpoints.load(work.subtask.id)).toMatchObject({ turns: [{ turn: 1 }] });

    const again = await claim(work.attempt.id);
    // The same attempt, another epoch.
    expect(await save(work.claim, 2, 'b')).toBe(false);
    expect(await save(again.claim, 2, 'b')).toBe(true);
    expect(await store.checkpoints.load(work.subtask.id)).toMatchObject({
      turns: [{ turn: 1 }, { turn: 2 }],
      patch: Buffer.from('b'),
    });
  });

  it('tell how the attempt before ended', async () => {
    const work = await one();
    await save(work.claim, 1);
    await store.attempts.fail(work.claim, { code: 'model_timeout', detail: 'silence' }, []);
    expect(await store.checkpoints.load(work.subtask.id)).toMatchObject({
      attemptId: work.attempt.id,
      earlier: { status: 'failed', failure: { code: 'model_timeout', detail: 'silence' } },
    });
  });

  it('are gone once the row has its result, or failed for what its agent did', async () => {
    const done = await one();
    await save(done.claim, 1);
    await store.attempts.succeed(done.claim, { summary: '', turns: 1, artifacts: [] });
    expect(await store.checkpoints.load(done.subtask.id)).toBeNull();

    const failed = await one();
    await save(failed.claim, 1);
    await store.attempts.fail(failed.claim, { code: 'verification_failed', detail: 'red' }, []);
    expect(await store.checkpoints.load(failed.subtask.id)).toBeNull();
  });

  it('of two runs, or with a turn missing, are none', async () => {
    const work = await one();
    await save(work.claim, 1);
    await save(work.claim, 2, null, 'b2');
    expect(await store.checkpoints.load(work.subtask.id)).toBeNull();
    await store.checkpoints.clear(work.claim);
    await save(work.claim, 2);
    expect(await store.checkpoints.load(work.subtask.id)).toBeNull();
  });

  it('of 200 agents that end their turns at once are all stored', async () => {
    const works = await claimed(200);
    expect(works).toHaveLength(200);
    await Promise.all(
      works.map(async (work) => {
        for (const number of [1, 2, 3])
          expect(await save(work.claim, number, 'x'.repeat(2000 * number))).toBe(true);
      }),
    );
    for (const { subtask } of works)
      expect((await store.checkpoints.load(subtask.id))?.turns.map(({ turn }) => turn)).toEqual([1, 2, 3]);
  });
});
