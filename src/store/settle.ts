import { and, eq, inArray, isNull, lte, ne, or, sql } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Executor } from './database.ts';
import type { Task } from './port.ts';
import { attempts, subtasks, tasks } from './schema.ts';

/** What is to be published changed: failures of before say nothing about it. */
export const publishAtOnce = { publishTries: 0, publishAfter: null };

/** Its publishing does not pause. */
export const mayPublish = or(isNull(tasks.publishAfter), lte(tasks.publishAfter, now));

/**
 * Ends an open task inside a transaction: whatever is open below it is cancelled with it. False when it was
 * settled already. Takes the task row first, as every transaction on a task does.
 */
export async function settle(
  tx: Executor,
  id: string,
  outcome: NonNullable<Task['outcome']>,
  failure: Task['failure'],
): Promise<boolean> {
  const [task] = await tx
    .update(tasks)
    .set({
      phase: 'publishing',
      outcome,
      failure,
      settledAt: now,
      updatedAt: now,
      ...publishAtOnce,
    })
    .where(and(eq(tasks.id, id), inArray(tasks.phase, ['held', 'planning', 'running'])))
    .returning({ id: tasks.id });
  if (task === undefined) return false;
  // A result that was accepted counts, be the graph not yet advanced.
  await tx
    .update(subtasks)
    .set({ status: 'succeeded', finishedAt: now })
    .where(
      and(
        eq(subtasks.taskId, id),
        eq(subtasks.status, 'running'),
        sql`'succeeded' = (
          select ${attempts.status} from ${attempts} where ${attempts.subtaskId} = ${subtasks.id}
          order by ${attempts.number} desc limit 1)`,
      ),
    );
  await tx
    .update(subtasks)
    .set({ status: 'cancelled', finishedAt: now })
    .where(and(eq(subtasks.taskId, id), inArray(subtasks.status, ['waiting', 'running'])));
  await tx
    .update(attempts)
    .set({ status: 'cancelled', finishedAt: now })
    .where(and(eq(attempts.taskId, id), inArray(attempts.status, ['queued', 'running'])));
  return true;
}

/** Locks the task row for the length of the transaction; null when there is none, or it is not `running`. */
export async function lockRunning(tx: Executor, id: string): Promise<Task | null> {
  const [task] = await tx
    .select()
    .from(tasks)
    .where(and(eq(tasks.id, id), ne(tasks.phase, 'finished')))
    .for('no key update');
  return task?.phase === 'running' ? task : null;
}
