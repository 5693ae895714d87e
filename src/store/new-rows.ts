import { desc, eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { subtasks } from './schema.ts';

/** Number of the row that would follow the last of the task. */
export async function nextRowOf(tx: Executor, taskId: string): Promise<number> {
  const [last] = await tx
    .select({ row: subtasks.row })
    .from(subtasks)
    .where(eq(subtasks.taskId, taskId))
    .orderBy(desc(subtasks.row))
    .limit(1);
  return (last?.row ?? -1) + 1;
}
