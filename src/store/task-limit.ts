import { and, asc, eq, exists, inArray, lt, sql } from 'drizzle-orm';
import { isOpen } from '../domain/task.ts';
import { ago, now, readClock } from './clock.ts';
import type { Database, Executor } from './database.ts';
import { failRow } from './end-rows.ts';
import { attempts, subtasks, tasks } from './schema.ts';
import { lockRunning } from './settle.ts';

/**
 * Ends what is open in tasks that have run for longer than `limitMs` since they were planned: rows of agents fail as
 * `task_limit`, which ends their attempts. What they have is merged and published as ever, so rows that merge go on;
 * each of their attempts has limits of its own. Returns the tasks that changed.
 */
export async function endOverdueTasks(db: Database, limitMs: number): Promise<string[]> {
  const overdue = await db
    .select({ id: tasks.id })
    .from(tasks)
    .where(
      and(
        eq(tasks.phase, 'running'),
        lt(tasks.plannedAt, ago(limitMs)),
        exists(
          db
            .select({ id: subtasks.id })
            .from(subtasks)
            .where(openRowOf(sql`${tasks.id}`)),
        ),
      ),
    );
  const ended: string[] = [];
  for (const { id } of overdue)
    if (await db.transaction((tx) => endOpenRows(tx, id, limitMs))) ended.push(id);
  return ended;
}

/** Rows whose attempt is over are left to `advance`, which knows what came of it. */
function openRowOf(taskId: ReturnType<typeof sql>) {
  return sql`${subtasks.taskId} = ${taskId} and ${subtasks.kind} = 'agent' and (
    ${subtasks.status} = 'waiting' or (${subtasks.status} = 'running' and exists (
      select 1 from ${attempts} a where a.subtask_id = ${subtasks.id} and a.status in ('queued', 'running'))))`;
}

async function endOpenRows(tx: Executor, taskId: string, limitMs: number): Promise<boolean> {
  const task = await lockRunning(tx, taskId);
  const begun = (await readClock(tx)).getTime() - limitMs;
  // Planned anew meanwhile.
  if (task === null || task.plannedAt === null || task.plannedAt.getTime() > begun) return false;
  const rows = await tx
    .select({ id: subtasks.id })
    .from(subtasks)
    .where(openRowOf(sql`${taskId}`))
    .orderBy(asc(subtasks.row));
  const failure = {
    code: 'task_limit' as const,
    detail: `the task had run for ${Math.round(limitMs / 1000)} s when the subtask was not done`,
  };
  await tx
    .update(attempts)
    .set({ status: 'cancelled', finishedAt: now, failure })
    .where(
      and(
        inArray(
          attempts.subtaskId,
          rows.map(({ id }) => id),
        ),
        inArray(attempts.status, ['queued', 'running']),
      ),
    );
  for (const { id } of rows) {
    // One that needed a row before it is skipped by now.
    const [row] = await tx.select({ status: subtasks.status }).from(subtasks).where(eq(subtasks.id, id));
    if (row !== undefined && isOpen(row.status)) await failRow(tx, id, failure);
  }
  return rows.length > 0;
}
