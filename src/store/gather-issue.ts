import { randomUUID } from 'node:crypto';
import { and, desc, eq, ne, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import type { SubjectIssue } from '../domain/task.ts';
import { inTime, now } from './clock.ts';
import type { Database, Executor } from './database.ts';
import type { NewTask } from './port/tasks.ts';
import type { Task } from './port.ts';
import { tasks } from './schema.ts';

/** Gathers issues into a batch; see `Tasks.gather`. One repository's issues follow one another. */
export function gatherIssue(
  db: Database,
  task: NewTask,
  issue: SubjectIssue,
  { maxIssues, quietMs }: { readonly maxIssues: number; readonly quietMs: number },
): Promise<{ task: Task; created: boolean }> {
  const startAfter = inTime(quietMs);
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`batch:${task.repositoryId}`}, 0))`);
    const open = await tx
      .select()
      .from(tasks)
      .where(
        and(eq(tasks.repositoryId, task.repositoryId), eq(tasks.kind, 'batch'), ne(tasks.phase, 'finished')),
      )
      .orderBy(desc(tasks.createdAt))
      // What is gathering may begin or be cancelled at this moment: that comes first, or waits.
      .for('update');
    const having = open.find((batch) => batch.issues.some(({ number }) => number === issue.number));
    if (having !== undefined) return { task: having, created: false };
    const gathering = open.find((batch) => batch.phase === 'held' && batch.startAfter !== null);
    if (gathering !== undefined && gathering.issues.length < maxIssues) {
      const issues = [...gathering.issues, issue].toSorted((a, b) => a.number - b.number);
      return { task: await change(tx, gathering.id, { issues, startAfter }), created: false };
    }
    if (gathering !== undefined) await change(tx, gathering.id, { phase: 'planning' });
    const { held: _, ...columns } = task;
    const [created] = await tx
      .insert(tasks)
      .values({ ...columns, issues: [issue], startAfter, id: randomUUID(), phase: 'held' })
      .returning();
    if (created === undefined) throw new Error('insert returned no row');
    return { task: created, created: true };
  });
}

async function change(tx: Executor, id: string, set: PgUpdateSetSource<typeof tasks>): Promise<Task> {
  const [row] = await tx
    .update(tasks)
    .set({ ...set, updatedAt: now })
    .where(eq(tasks.id, id))
    .returning();
  if (row === undefined) throw new Error('update returned no row');
  return row;
}
