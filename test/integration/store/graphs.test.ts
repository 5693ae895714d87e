import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import type { Candidate, LeftOut } from '../../../src/domain/candidate.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import type { PlannedRow } from '../../../src/domain/matrix.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { decideLimits } from '../../../src/scheduling/limits.ts';
import type { AttemptResult } from '../../../src/store/port/attempts.ts';
import type { Store } from '../../../src/store/port.ts';
import { audit, checkpoints, deadLetters, subtasks } from '../../../src/store/schema.ts';
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

let tasks = 0;

/** A running task of those rows, its ready ones started, and what tests do to it. */
async function running(...rows: PlannedRow[]) {
  tasks += 1;
  const { task } = await store.tasks.create(newTask({ kind: 'fix', key: `graph:${tasks}`, number: tasks }));
  await store.tasks.storePlan(task.id, newPlan(...rows), planFacts);
  const limits = decideLimits(limitsSchema.parse({}), { baseMib: 1024, ceilingMib: 4096 });
  const advance = () =>
    store.graphs.advance(task.id, { parallel: () => 10, decide: (state, now) => decide(state, limits, now) });
  const view = async () => {
    const found = await store.views.task(task.id);
    if (found === null) throw new Error('the task is gone');
    return found;
  };
  const rowOf = async (row: number) => {
    const found = (await view()).subtasks[row];
    if (found === undefined) throw new Error(`no row ${row}`);
    return found;
  };
  const claim = async (row: number) => {
    const { id } = await rowOf(row);
    const live = (await view()).attempts.find((one) => one.subtaskId === id && one.status === 'queued');
    const claimed = await store.attempts.claim(live?.id ?? '', 'w');
    if (claimed === null) throw new Error(`row ${row} has no attempt to claim`);
    return claimed.claim;
  };
  const succeed = async (row: number, result: Partial<AttemptResult> = {}) => {
    const done = { summary: `did ${row}`, turns: 1, artifacts: [], ...result };
    expect(await store.attempts.succeed(await claim(row), done)).toBe(true);
    return advance();
  };
  const fail = async (row: number, failure: Failure) => {
    expect(await store.attempts.fail(await claim(row), failure, [])).toBe(true);
    return advance();
  };
  const statuses = async () => (await view()).subtasks.map(({ status, unmet }) => `${status} ${unmet}`);
  await advance();
  return { task, advance, view, rowOf, claim, succeed, fail, statuses };
}

const merge = (dependsOn: number[]) => newRow('merge', { kind: 'integrate', waitsFor: 'end', dependsOn });
const wide = newRow('wide', { matrix: { ...newRow('x').matrix, writes: ['a.js', 'b.js'], inputs: [] } });
const out = (row: { id: string; row: number }, change: Partial<LeftOut> = {}): LeftOut => ({
  ...{
    subtaskId: row.id,
    row: row.row,
    code: 'verification',
    reason: 'with it, these fail: a',
    against: null,
  },
  ...change,
});
const candidate = (...leftOut: LeftOut[]): Candidate => ({
  ...{ targetSha: 'target', commit: 'candidate', tree: 'tree', merged: [], leftOut },
  ...{ verdict: null, checks: [], verifications: 1 },
});

describe('a graph in the store', () => {
  it('leaves a row running whose result came, until it is decided what that means', async () => {
    const graph = await running(newRow('a'), newRow('b', { dependsOn: [0] }));
    const result = { summary: 'fine', turns: 1, artifacts: [] };
    expect(await store.attempts.succeed(await graph.claim(0), result)).toBe(true);
    expect(await graph.statuses()).toEqual(['running 0', 'waiting 1']);
    await graph.advance();
    expect(await graph.statuses()).toEqual(['succeeded 0', 'running 0']);
  });

  it('lets a result count that came before its task was cancelled', async () => {
    const graph = await running(newRow('a'), newRow('b'));
    await store.attempts.succeed(await graph.claim(0), { summary: 'fine', turns: 1, artifacts: [] });
    await store.tasks.settle(graph.task.id, 'cancelled', null);
    expect((await graph.view()).subtasks.map(({ status }) => status)).toEqual(['succeeded', 'cancelled']);
  });

  it('weighs each row by the heaviest chain behind it', async () => {
    const graph = await running(
      newRow('a', { complexity: 2 }),
      newRow('b', { complexity: 5, dependsOn: [0] }),
      newRow('c', { complexity: 1, dependsOn: [0] }),
      newRow('d', { complexity: 3, dependsOn: [1, 2] }),
    );
    expect((await graph.view()).subtasks.map(({ path }) => path)).toEqual([10, 8, 4, 3]);
  });

  it('puts the parts of a row that is too big in its place', async () => {
    const graph = await running(
      { ...wide, complexity: 4 },
      newRow('after', { dependsOn: [0] }),
      merge([0, 1]),
    );
    await database.db.update(subtasks).set({ base: 'b' }).where(eq(subtasks.title, 'wide'));
    await graph.fail(0, { code: 'context_exceeded', detail: 'long' });
    expect(await graph.statuses()).toEqual(['split 0', 'waiting 2', 'waiting 3', 'running 0', 'running 0']);
    const { id } = await graph.rowOf(0);
    expect(await graph.rowOf(3)).toMatchObject({
      ...{
        title: 'wide (part 1/2)',
        depth: 1,
        parent: id,
        base: 'b',
        complexity: 2,
        path: 4,
        agent: 'reviewer',
      },
      matrix: { writes: ['a.js'] },
    });
    await graph.succeed(3);
    expect(await graph.statuses()).toEqual(['split 0', 'waiting 1', 'waiting 2', 'succeeded 0', 'running 0']);
    await graph.succeed(4);
    await graph.succeed(1);
    expect(await graph.succeed(2, { candidate: candidate() })).toMatchObject({ settled: true });
    expect((await graph.view()).task.outcome).toBe('succeeded');
  });

  it('runs a row again with what its checks said, without its checkpoints; its new result replaces the old', async () => {
    const graph = await running(newRow('a'));
    const { id } = await graph.rowOf(0);
    const claim = await graph.claim(0);
    const { attemptId } = claim;
    await database.db
      .insert(checkpoints)
      .values({ subtaskId: id, turn: 1, attemptId, messages: '[]', tokens: 1 });
    await store.attempts.fail(claim, { code: 'verification_failed', detail: 'add adds' }, []);
    await graph.advance();
    expect(await graph.rowOf(0)).toMatchObject({
      status: 'running',
      feedback: 'add adds',
      verificationReruns: 1,
    });
    expect(await database.db.select().from(checkpoints).where(eq(checkpoints.subtaskId, id))).toEqual([]);
    await graph.fail(0, { code: 'verification_failed', detail: 'still' });
    const { subtasks: rows, task } = await graph.view();
    expect([rows[0]?.status, task.outcome]).toEqual(['failed', 'failed']);
  });

  it('runs what a candidate left out again on it, and integrates anew', async () => {
    const graph = await running(newRow('a'), newRow('b'), merge([0, 1]));
    await graph.succeed(0, { findings: [newFinding({ title: 'first' })] });
    await graph.succeed(1);
    await graph.succeed(2, { candidate: candidate(out(await graph.rowOf(0))) });
    expect(await graph.statuses()).toEqual(['running 0', 'succeeded 0', 'waiting 1']);
    expect(await graph.rowOf(0)).toMatchObject({
      ...{ base: 'candidate', feedback: 'with it, these fail: a', verificationReruns: 1, finishedAt: null },
    });
    await graph.succeed(0, { findings: [newFinding({ title: 'second' })] });
    expect((await graph.view()).findings.map(({ title }) => title)).toEqual(['second']);
    expect(await graph.succeed(2, { candidate: candidate() })).toMatchObject({ settled: true });
    const view = await graph.view();
    expect(view.candidates.map(({ rounds, candidate: { leftOut } }) => [rounds, leftOut])).toEqual([[1, []]]);
    expect(view.task.outcome).toBe('succeeded');
  });

  it('puts a patch that goes on colliding behind the other, once, and leaves it out then', async () => {
    const graph = await running(newRow('a'), newRow('b'), merge([0, 1]));
    await graph.succeed(0);
    await graph.succeed(1);
    const [a, b] = [await graph.rowOf(0), await graph.rowOf(1)];
    const collides = candidate(out(b, { code: 'conflict', against: a.id }));
    const bases: (string | null)[] = [];
    for (let again = 0; again < 3; again += 1) {
      await graph.succeed(2, { candidate: collides });
      bases.push((await graph.rowOf(1)).base);
      await graph.succeed(1);
    }
    expect(bases).toEqual(['candidate', 'candidate', null]);
    expect(await store.graphs.ancestors(b.id)).toEqual([a.id]);
    expect(await graph.succeed(2, { candidate: collides })).toMatchObject({ settled: true });
    expect(await graph.rowOf(1)).toMatchObject({ status: 'succeeded', conflictReruns: 3 });
  });

  it('does not run a row again that another builds upon at this moment', async () => {
    const own = (title: string, change: Partial<PlannedRow>) => newRow(title, { issue: 1, ...change });
    const graph = await running(
      own('a', {}),
      own('merge', { kind: 'integrate', waitsFor: 'end', dependsOn: [0] }),
      newRow('b', { issue: 2, dependsOn: [0] }),
    );
    await graph.succeed(0);
    await graph.succeed(1, { candidate: candidate(out(await graph.rowOf(0))) });
    expect(await graph.statuses()).toEqual(['succeeded 0', 'succeeded 0', 'running 0']);
  });

  it('adds the rows that an agent asks for before the integration, and records what it refuses', async () => {
    const graph = await running(newRow('a'), newRow('b'), merge([0, 1]));
    const ask = (title: string, path: string) => ({
      ...{ title, goal: `do ${title}`, writes: [path], inputs: [path], verification: 'seen' },
    });
    await graph.succeed(0, { requested: [ask('more', 'c.js'), ask('taken', 'b.js')] });
    expect(await graph.statuses()).toEqual(['succeeded 0', 'running 0', 'waiting 2', 'running 0']);
    expect(await graph.rowOf(3)).toMatchObject({
      ...{ title: 'more', agent: 'reviewer', kind: 'agent', depth: 0 },
      matrix: { goal: 'do more', writes: ['c.js'], limits: newRow('a').matrix.limits },
    });
    const reason = expect.stringContaining('row 2');
    expect((await graph.rowOf(0)).summary).toMatch(
      /^did 0 It asked for further work that was refused: "taken" \(/,
    );
    const [entry] = await database.db.select().from(audit).where(eq(audit.subject, graph.task.id));
    expect(entry).toMatchObject({
      ...{ actor: 'patchfleet', action: 'fork.refused' },
      detail: { row: 0, refused: [{ title: 'taken', reason }] },
    });
  });

  it('asks the next agent, and keeps what failed for good with its attempts', async () => {
    const graph = await running(newRow('a', { fallbacks: ['second'] }), newRow('b', { dependsOn: [0] }));
    const { id } = await graph.rowOf(0);
    await graph.fail(0, { code: 'model_nonsense', detail: 'blah' });
    expect(await graph.rowOf(0)).toMatchObject({
      agent: 'second',
      fallbacks: [],
      failures: 0,
      status: 'running',
    });
    expect(await graph.fail(0, { code: 'model_nonsense', detail: 'again' })).toMatchObject({ settled: true });
    expect((await graph.rowOf(1)).failure).toEqual({
      ...{ code: 'model_nonsense', detail: 'row 1 ("a"), which it depends on, did not succeed' },
    });
    const letters = await database.db.select().from(deadLetters).where(eq(deadLetters.taskId, graph.task.id));
    expect(letters).toMatchObject([
      {
        ...{ kind: 'subtask', ref: id, status: 'dead', failure: { code: 'model_nonsense', detail: 'again' } },
        detail: {
          ...{ row: 0, title: 'a', agent: 'second' },
          attempts: [
            { number: 1, status: 'failed', worker: 'w', failure: { detail: 'blah' } },
            { number: 2, status: 'failed', worker: 'w', failure: { detail: 'again' } },
          ],
        },
      },
    ]);
  });

  it('counts retries against the budget of the task', async () => {
    const graph = await running(newRow('a'));
    await graph.fail(0, { code: 'model_timeout', detail: '' });
    expect((await graph.view()).task.retriesUsed).toBe(1);
    expect(await graph.rowOf(0)).toMatchObject({
      status: 'waiting',
      failures: 1,
      notBefore: expect.any(Date),
    });
  });

  it('gives a row more memory that ran out of it, which is no failure, until the ceiling', async () => {
    const graph = await running(newRow('a', { memoryMib: 1500, weight: 2 }), merge([0]));
    const ranOut = { code: 'memory_exhausted', detail: 'a check ran out of memory' } as const;
    await graph.fail(0, ranOut);
    expect(await graph.rowOf(0)).toMatchObject({
      ...{ status: 'running', memoryMib: 3000, weight: 3, failures: 0, notBefore: null },
      summary: 'It ran out of 1500 MiB of memory and is tried again with 3000 MiB.',
    });
    await graph.fail(0, ranOut);
    expect(await graph.rowOf(0)).toMatchObject({ memoryMib: 4096, weight: 4 });
    expect((await graph.view()).task.retriesUsed).toBe(0);
    await graph.fail(0, ranOut);
    expect(await graph.rowOf(0)).toMatchObject({
      status: 'failed',
      failure: { code: 'memory_ceiling', detail: expect.stringContaining('no more than 4096 MiB') },
    });
  });

  it('keeps the turns of an agent that ran out of memory', async () => {
    const graph = await running(newRow('a'));
    const claim = await graph.claim(0);
    const turn = { turn: 1, messages: [], tokens: 1, beginning: 'b', patch: null };
    expect(await store.checkpoints.save(claim, turn)).toBe(true);
    await store.attempts.fail(claim, { code: 'memory_exhausted', detail: '' }, []);
    await graph.advance();
    expect(await store.checkpoints.load((await graph.rowOf(0)).id)).toMatchObject({ turns: [{ turn: 1 }] });
  });

  it('gives the parts of a row its memory', async () => {
    const graph = await running({ ...wide, memoryMib: 2048, weight: 2 });
    await graph.fail(0, { code: 'context_exceeded', detail: '' });
    expect((await graph.view()).subtasks.map(({ memoryMib, weight }) => [memoryMib, weight])).toEqual([
      [2048, 2],
      [2048, 2],
      [2048, 2],
    ]);
  });

  it('begins no more than there is room for', async () => {
    const { task } = await store.tasks.create(newTask({ kind: 'fix', key: 'graph:room' }));
    await store.tasks.storePlan(
      task.id,
      newPlan(...['a', 'b', 'c'].map((title) => newRow(title))),
      planFacts,
    );
    const advance = (room: number) =>
      store.graphs.advance(task.id, {
        parallel: () => room,
        decide: (state, now) =>
          decide(state, decideLimits(limitsSchema.parse({}), { baseMib: 1024, ceilingMib: 4096 }), now),
      });
    expect((await advance(2))?.started).toHaveLength(2);
    expect((await advance(2))?.started).toHaveLength(0);
    expect((await advance(1))?.started).toHaveLength(0);
    expect((await advance(3))?.started).toHaveLength(1);
  });
});
