import { randomUUID } from 'node:crypto';
import { and, eq, sum } from 'drizzle-orm';
import type { BudgetLedger } from '../inference/port.ts';
import type { Database } from './database.ts';
import { tasks, usage } from './schema.ts';

/**
 * The token budget of a task, as rows of `usage`. `taskTokens` is what one task may spend (`limits.task_tokens`).
 * Reservations of one task follow each other under the lock of its row, so that parallel attempts, on whatever
 * replica, never promise the same tokens twice.
 */
export function createBudgetLedger(db: Database, taskTokens: number): BudgetLedger {
  return {
    async reserve(context, channel, model, tokens) {
      return db.transaction(async (tx) => {
        // No key update: rows that refer to the task may be inserted meanwhile.
        const [task] = await tx
          .select({ id: tasks.id })
          .from(tasks)
          .where(eq(tasks.id, context.taskId))
          .for('no key update');
        if (task === undefined) return null;
        const [spent] = await tx
          .select({ tokens: sum(usage.tokens).mapWith(Number) })
          .from(usage)
          .where(eq(usage.taskId, context.taskId));
        if ((spent?.tokens ?? 0) + tokens > taskTokens) return null;
        const id = randomUUID();
        await tx.insert(usage).values({
          id,
          taskId: context.taskId,
          subtaskId: context.subtaskId,
          attemptId: context.attemptId,
          channel,
          model,
          state: 'reserved',
          tokens,
        });
        return id;
      });
    },

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
          settledAt: new Date(),
        })
        .where(and(eq(usage.id, reservation), eq(usage.state, 'reserved')));
    },

    /** A settled reservation stays. */
    async release(reservation) {
      await db.delete(usage).where(and(eq(usage.id, reservation), eq(usage.state, 'reserved')));
    },
  };
}
