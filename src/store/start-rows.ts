import { randomUUID } from 'node:crypto';
import { inArray, max, sql } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Executor } from './database.ts';
import { attempts, subtasks } from './schema.ts';

/** Queues an attempt of each of the rows, in their order. */
export async function startRows(
  tx: Executor,
  taskId: string,
  ids: readonly string[],
): Promise<{ attemptId: string }[]> {
  if (ids.length === 0) return [];
  const before = await tx
    .select({ subtaskId: attempts.subtaskId, number: max(attempts.number) })
    .from(attempts)
    .where(inArray(attempts.subtaskId, [...ids]))
    .groupBy(attempts.subtaskId);
  const numbers = new Map(before.map(({ subtaskId, number }) => [subtaskId, number ?? 0]));
  const queued = ids.map((subtaskId) => ({
    id: randomUUID(),
    taskId,
    subtaskId,
    number: (numbers.get(subtaskId) ?? 0) + 1,
    queuedAt: now,
  }));
  await tx.insert(attempts).values(queued);
  await tx
    .update(subtasks)
    .set({ status: 'running', startedAt: sql`coalesce(${subtasks.startedAt}, ${now})` })
    .where(inArray(subtasks.id, [...ids]));
  return queued.map(({ id }) => ({ attemptId: id }));
}
