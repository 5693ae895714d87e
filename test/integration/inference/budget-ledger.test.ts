import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBudgetLedger } from '../../../src/store/budget-ledger.ts';
import { tasks, usage } from '../../../src/store/schema.ts';
import { openTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function startTask() {
  const taskId = randomUUID();
  await database.db.insert(tasks).values({
    id: taskId,
    kind: 'review',
    key: `review:${taskId}`,
    installationId: 1,
    repositoryId: 1,
    owner: 'o',
    repo: 'r',
    number: 1,
    headSha: 'a'.repeat(40),
    baseSha: 'b'.repeat(40),
    baseRef: 'main',
    title: '',
    body: '',
    trigger: {} as typeof tasks.$inferInsert.trigger,
    priority: 20,
  });
  return { taskId, subtaskId: randomUUID(), attemptId: randomUUID() };
}

const rows = (taskId: string) => database.db.select().from(usage).where(eq(usage.taskId, taskId));
const spend = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  cachedTokens: 0,
  completionTokens,
  estimated: false,
});

describe('the budget ledger', () => {
  it('never promises more than the budget to 50 that ask at once', async () => {
    const context = await startTask();
    const ledgers = [createBudgetLedger(database.db, 1000), createBudgetLedger(database.db, 1000)];
    const asked = Array.from({ length: 25 }, () =>
      ledgers.map((ledger) => ledger.reserve(context, 'default', 'm', 70)),
    ).flat();
    const granted = (await Promise.all(asked)).filter((id) => id !== null);
    expect(granted).toHaveLength(14);
    const stored = await rows(context.taskId);
    expect(stored.reduce((sum, row) => sum + row.tokens, 0)).toBe(980);
  });

  it('gives what a call did not use to the next', async () => {
    const context = await startTask();
    const ledger = createBudgetLedger(database.db, 1000);
    const first = await ledger.reserve(context, 'default', 'm', 900);
    expect(await ledger.reserve(context, 'default', 'm', 200)).toBeNull();
    await ledger.settle(first ?? '', { ...spend(300, 50), cachedTokens: 200 }, 1234);
    expect(await rows(context.taskId)).toEqual([
      {
        ...context,
        id: first,
        channel: 'default',
        model: 'm',
        state: 'settled',
        tokens: 350,
        promptTokens: 300,
        cachedTokens: 200,
        completionTokens: 50,
        costMicros: 1234,
        estimated: false,
        createdAt: expect.any(Date),
        settledAt: expect.any(Date),
      },
    ]);
    expect(await ledger.reserve(context, 'default', 'm', 650)).not.toBeNull();
    expect(await ledger.reserve(context, 'default', 'm', 1)).toBeNull();
  });

  it('settles once, releases once, and never takes a settlement back', async () => {
    const context = await startTask();
    const ledger = createBudgetLedger(database.db, 1000);
    const id = (await ledger.reserve(context, 'default', 'm', 500)) ?? '';
    await ledger.settle(id, spend(10, 5), 1);
    await ledger.settle(id, spend(400, 90), 2);
    await ledger.release(id);
    expect((await rows(context.taskId)).map((row) => [row.tokens, row.costMicros])).toEqual([[15, 1]]);
    const other = (await ledger.reserve(context, 'default', 'm', 500)) ?? '';
    await ledger.release(other);
    await ledger.release(other);
    await ledger.settle(other, spend(10, 5), 1);
    expect(await rows(context.taskId)).toHaveLength(1);
  });

  it('keeps tasks apart, and promises nothing to one that does not exist', async () => {
    const [one, two] = [await startTask(), await startTask()];
    const ledger = createBudgetLedger(database.db, 100);
    expect(await ledger.reserve(one, 'default', 'm', 100)).not.toBeNull();
    expect(await ledger.reserve(two, 'default', 'm', 100)).not.toBeNull();
    expect(await ledger.reserve({ ...one, taskId: randomUUID() }, 'default', 'm', 1)).toBeNull();
  });
});
