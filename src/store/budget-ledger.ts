import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import type { BudgetLedger } from '../inference/port.ts';
import { now } from './clock.ts';
import type { Database } from './database.ts';
import { tasks, usage } from './schema.ts';
import { doTogether } from './together.ts';

interface Reservation {
  readonly context: { readonly taskId: string; readonly subtaskId: string; readonly attemptId: string };
  readonly channel: string;
  readonly model: string;
  readonly tokens: number;
}

/**
 * The token budget of a task, as rows of `usage`. `taskTokens` is what one task may spend (`limits.task_tokens`).
 * Reservations of one task follow each other under a lock of their own (that of the task's row is held for long by
 * whoever moves the task on), so that parallel attempts, on whatever replica, never promise the same tokens twice;
 * those that come at once share a transaction.
 */
export function createBudgetLedger(db: Database, taskTokens: number): BudgetLedger {
  const reserve = doTogether((taskId: string, requests: readonly Reservation[]) =>
    reserveAll(db, taskId, requests, taskTokens),
  );
  return {
    reserve: (context, channel, model, tokens) =>
      reserve(context.taskId, { context, channel, model, tokens }),

    /** A second settlement, or one after a release, changes nothing. */
    async settle(reservation, used, costMicros) {
      await db
        .update(usage)
        .set({
          state: 'settled',
          tokens: used.promptTokens + used.completionTokens,
          promptTokens: used.promptTokens,
          cachedTokens: used.cachedTokens,
          completionTokens: used.completionTokens,
          costMicros,
          estimated: used.estimated,
          settledAt: now,
        })
        .where(and(eq(usage.id, reservation), eq(usage.state, 'reserved')));
    },

    /** A settled reservation stays. */
    async release(reservation) {
      await db.delete(usage).where(and(eq(usage.id, reservation), eq(usage.state, 'reserved')));
    },
  };
}

/** Grants what fits, in the order of asking; null for the others, and for all where there is no such task. */
function reserveAll(
  db: Database,
  taskId: string,
  requests: readonly Reservation[],
  taskTokens: number,
): Promise<(string | null)[]> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`budget:${taskId}`}, 0))`);
    // Asked after the lock was had: a statement sees what was committed before it began.
    const [task] = await tx
      .select({ spent: sql<number>`coalesce(sum(${usage.tokens}), 0)`.mapWith(Number) })
      .from(tasks)
      .leftJoin(usage, eq(usage.taskId, tasks.id))
      .where(eq(tasks.id, taskId))
      .groupBy(tasks.id);
    let left = task === undefined ? Number.NEGATIVE_INFINITY : taskTokens - task.spent;
    const granted: (typeof usage.$inferInsert)[] = [];
    const ids = requests.map(({ context, channel, model, tokens }) => {
      if (tokens > left) return null;
      left -= tokens;
      const { subtaskId, attemptId } = context;
      const id = randomUUID();
      granted.push({ id, taskId, subtaskId, attemptId, channel, model, state: 'reserved', tokens });
      return id;
    });
    if (granted.length > 0) await tx.insert(usage).values(granted);
    return ids;
  });
}
