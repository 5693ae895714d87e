import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/port.ts';
import { usage } from '../../../src/store/schema.ts';
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

let made = 0;
async function planned(kind: 'fix' | 'review', repositoryId: number, agents: readonly string[]) {
  made += 1;
  const { task } = await store.tasks.create(newTask({ kind, repositoryId, key: `t${made}`, number: made }));
  const rows = agents.map((agent, index) => newRow(`row ${index}`, { agent }));
  await store.tasks.storePlan(task.id, newPlan(...rows), planFacts);
  return { task, rows: (await store.views.task(task.id))?.subtasks ?? [] };
}

async function spend(
  taskId: string,
  subtaskId: string,
  tokens: number,
  more: Partial<typeof usage.$inferInsert> = {},
) {
  await database.db.insert(usage).values({
    ...{ id: randomUUID(), taskId, subtaskId, attemptId: subtaskId, channel: 'main', model: 'm' },
    ...{ state: 'settled' as const, tokens, costMicros: tokens * 2, ...more },
  });
}

describe('what was used', () => {
  it('by rows that changed files in a repository is told by agent; planning and reviews do not count', async () => {
    const fix = await planned('fix', 70, ['fixer', 'fixer', 'other']);
    const [one, two, three] = fix.rows.map(({ id }) => id);
    if (one === undefined || two === undefined || three === undefined) throw new Error('no rows');
    await spend(fix.task.id, one, 100);
    await spend(fix.task.id, one, 50);
    await spend(fix.task.id, two, 10);
    await spend(fix.task.id, two, 7, { state: 'reserved' });
    await spend(fix.task.id, three, 1);
    await spend(fix.task.id, fix.task.id, 1000);
    const review = await planned('review', 70, ['fixer']);
    await spend(review.task.id, review.rows[0]?.id ?? '', 5000);
    const elsewhere = await planned('fix', 71, ['fixer']);
    await spend(elsewhere.task.id, elsewhere.rows[0]?.id ?? '', 5000);
    expect(await store.figures.changeUse(70)).toEqual([
      { agent: 'fixer', rows: 2, tokens: 160, costMicros: 320 },
      { agent: 'other', rows: 1, tokens: 1, costMicros: 2 },
    ]);
    expect(await store.figures.changeUse(72)).toEqual([]);
  });

  it('by an attempt on a channel is a mean over attempts, of their calls together', async () => {
    const channel = 'quota';
    expect(await store.figures.meanTokens(channel)).toBeNull();
    const { task, rows } = await planned('fix', 73, ['fixer', 'fixer']);
    const [one = '', two = ''] = rows.map(({ id }) => id);
    for (const tokens of [100, 200, 300]) await spend(task.id, one, tokens, { channel });
    await spend(task.id, two, 200, { channel });
    await spend(task.id, two, 9999, { channel, state: 'reserved' });
    expect(await store.figures.meanTokens(channel)).toBe(400);
  });
});
