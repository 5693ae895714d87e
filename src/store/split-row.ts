import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { SplitAction } from '../domain/graph.ts';
import { now } from './clock.ts';
import type { Executor } from './database.ts';
import { recount, replaceInEdges } from './edges.ts';
import { nextRowOf } from './new-rows.ts';
import { checkpoints, subtasks } from './schema.ts';

/** Smaller rows take the place of one, at the end of the matrix. */
export async function splitRow(tx: Executor, { id, children, feedback }: SplitAction): Promise<void> {
  const [parent] = await tx
    .update(subtasks)
    .set({ status: 'split', finishedAt: now })
    .where(eq(subtasks.id, id))
    .returning();
  if (parent === undefined) return;
  const { taskId, agent, issue, kind, waitsFor, weight, memoryMib, fallbacks, base } = parent;
  const first = await nextRowOf(tx, taskId);
  const rows = children.map(({ title, matrix, complexity }, index) => ({
    ...{ taskId, agent, issue, kind, waitsFor, weight, memoryMib, fallbacks, base },
    ...{ title, matrix, complexity, feedback },
    id: randomUUID(),
    row: first + index,
    parent: id,
    depth: parent.depth + 1,
    // What waits behind it waits behind each of them.
    path: complexity + Math.max(0, parent.path - parent.complexity),
  }));
  await tx.insert(subtasks).values(rows);
  const ids = rows.map((row) => row.id);
  await replaceInEdges(tx, id, ids);
  await recount(tx, ids);
  await tx.delete(checkpoints).where(eq(checkpoints.subtaskId, id));
}
