import { randomUUID } from 'node:crypto';
import { and, eq, isNull, or, sql } from 'drizzle-orm';
import type { ForkAction } from '../domain/graph.ts';
import type { Executor } from './database.ts';
import { addEdges, recount } from './edges.ts';
import { nextRowOf } from './new-rows.ts';
import type { Task } from './port.ts';
import { audit, subtasks } from './schema.ts';

/** Rows that an agent asked for join the graph; what was refused is said and recorded. */
export async function forkRow(tx: Executor, task: Task, { id, rows, refused }: ForkAction): Promise<void> {
  const [requester] = await tx.select().from(subtasks).where(eq(subtasks.id, id));
  if (requester === undefined) return;
  if (refused.length > 0) await recordRefused(tx, task, requester, refused);
  if (rows.length === 0) return;
  const integrations = await tx
    .select({ id: subtasks.id, path: subtasks.path })
    .from(subtasks)
    .where(
      and(
        eq(subtasks.taskId, task.id),
        eq(subtasks.kind, 'integrate'),
        or(
          isNull(subtasks.issue),
          requester.issue === null ? undefined : eq(subtasks.issue, requester.issue),
        ),
      ),
    );
  const { taskId, agent, issue, weight, memoryMib, fallbacks, complexity } = requester;
  const first = await nextRowOf(tx, taskId);
  const added = rows.map(({ title, matrix, dependsOn }, index) => ({
    row: {
      ...{ taskId, agent, issue, weight, memoryMib, fallbacks, complexity, title, matrix },
      id: randomUUID(),
      row: first + index,
      path: complexity + Math.max(0, ...integrations.map(({ path }) => path)),
    },
    dependsOn,
  }));
  await tx.insert(subtasks).values(added.map(({ row }) => row));
  await addEdges(
    tx,
    added.flatMap(({ row, dependsOn }) => [
      ...dependsOn.map((on) => ({ subtaskId: row.id, dependsOn: on })),
      ...integrations.map((integration) => ({ subtaskId: integration.id, dependsOn: row.id })),
    ]),
  );
  await recount(
    tx,
    added.map(({ row }) => row.id),
  );
}

async function recordRefused(
  tx: Executor,
  task: Task,
  requester: { readonly id: string; readonly row: number },
  refused: ForkAction['refused'],
): Promise<void> {
  await tx.insert(audit).values({
    id: randomUUID(),
    actor: 'patchfleet',
    action: 'fork.refused',
    subject: task.id,
    detail: { row: requester.row, refused },
  });
  const each = refused.map(({ title, reason }) => `"${title}" (${reason})`).join(', ');
  const sentence = `It asked for further work that was refused: ${each}.`;
  await tx
    .update(subtasks)
    .set({ summary: sql`ltrim(${subtasks.summary} || ' ' || ${sentence}::text)` })
    .where(eq(subtasks.id, requester.id));
}
