import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Executor } from './database.ts';
import type { DeadLetter, Task } from './port.ts';
import { deliveries, publications, subtasks, tasks } from './schema.ts';
import { publishAtOnce } from './settle.ts';

/** Puts what failed for good back to where it is due again; the reconciler finds it. Null: done, else why not. */
export async function revive(tx: Executor, letter: DeadLetter): Promise<string | null> {
  const { kind, ref, taskId } = letter;
  if (kind === 'delivery') return await receiveAgain(tx, ref);
  if (taskId === null)
    return 'it belongs to no task, and its words were not kept: redeliver what asked for it';
  const [task] = await tx.select().from(tasks).where(eq(tasks.id, taskId)).for('update');
  if (task === undefined) return 'its task is gone';
  if (task.outcome === 'cancelled' || task.outcome === 'superseded')
    return `its task was ${task.outcome}: ask for it anew on GitHub`;
  switch (kind) {
    case 'task':
      return await planAgain(tx, task);
    case 'subtask':
      return await runAgain(tx, task, ref);
    case 'publication':
      return await publishAgain(tx, task, ref);
  }
}

const beginning = { outcome: null, failure: null, settledAt: null, finishedAt: null } as const;

async function receiveAgain(tx: Executor, id: string): Promise<string | null> {
  const rows = await tx
    .update(deliveries)
    .set({ status: 'received', reason: null, attempts: 0, settledAt: null })
    .where(and(eq(deliveries.id, id), eq(deliveries.status, 'failed')))
    .returning({ id: deliveries.id });
  return rows.length > 0 ? null : 'the delivery is not given up any more';
}

async function planAgain(tx: Executor, task: Task): Promise<string | null> {
  if (task.outcome !== 'failed' || task.plannedAt !== null) return 'its planning is not given up any more';
  await tx
    .update(tasks)
    .set({ ...beginning, ...publishAtOnce, phase: 'planning', planAttempts: 0, updatedAt: now })
    .where(eq(tasks.id, task.id));
  await reviewAnew(tx, task.id);
  return null;
}

/** A review that was settled without a word may have something to say now; one that was posted stays the only one. */
async function reviewAnew(tx: Executor, taskId: string): Promise<void> {
  await tx
    .update(publications)
    .set({ status: 'sending', failure: null, fingerprint: null, detail: {} })
    .where(
      and(eq(publications.taskId, taskId), eq(publications.kind, 'review'), isNull(publications.githubId)),
    );
}

/**
 * The row waits again, with all its retries; so does what was skipped for its sake, and what merges it. The task's
 * time begins anew.
 */
async function runAgain(tx: Executor, task: Task, subtaskId: string): Promise<string | null> {
  if (task.phase === 'held' || task.phase === 'planning') return 'its task is being planned anew';
  const again = {
    status: 'waiting' as const,
    failures: 0,
    deaths: 0,
    verificationReruns: 0,
    conflictReruns: 0,
    base: null,
    failure: null,
    notBefore: null,
    finishedAt: null,
  };
  const revived = await tx
    .update(subtasks)
    .set(again)
    .where(and(eq(subtasks.id, subtaskId), eq(subtasks.status, 'failed')))
    .returning({ id: subtasks.id });
  if (revived.length === 0) return 'the subtask is not given up any more';
  const { rows: below } = await tx.execute<{ id: string }>(sql`
    with recursive below as (
      select d.subtask_id as id from dependencies d where d.depends_on = ${subtaskId}
      union select d.subtask_id from dependencies d join below on d.depends_on = below.id)
    select id from below`);
  const ids = below.map(({ id }) => id);
  if (ids.length > 0)
    await tx
      .update(subtasks)
      .set(again)
      .where(
        and(
          inArray(subtasks.id, ids),
          sql`(${subtasks.status} = 'skipped'
               or (${subtasks.kind} = 'integrate' and ${subtasks.status} not in ('waiting', 'running')))`,
        ),
      );
  await recount(tx, task.id);
  await reviewAnew(tx, task.id);
  await tx
    .update(tasks)
    .set({
      ...beginning,
      ...publishAtOnce,
      phase: 'running',
      retriesUsed: 0,
      plannedAt: now,
      updatedAt: now,
    })
    .where(eq(tasks.id, task.id));
  return null;
}

/** What each waiting row of the task waits for. */
export async function recount(tx: Executor, taskId: string): Promise<void> {
  await tx.execute(sql`
    update subtasks s set unmet = (
      select count(*) from dependencies d join subtasks other on other.id = d.depends_on
       where d.subtask_id = s.id and case s.waits_for
         when 'end' then other.status in ('waiting', 'running')
         else other.status <> 'succeeded' end)
     where s.task_id = ${taskId} and s.status = 'waiting'`);
}

/** `ref`: a key, or the task's id for its publishing as a whole. What may be there is looked for before it is written. */
async function publishAgain(tx: Executor, task: Task, ref: string): Promise<string | null> {
  const failed = and(
    ref === task.id ? eq(publications.taskId, task.id) : eq(publications.key, ref),
    eq(publications.status, 'failed'),
  );
  const rows = await tx
    .update(publications)
    .set({ status: 'sending', failure: null, fingerprint: null })
    .where(failed)
    .returning({ key: publications.key });
  if (ref !== task.id && rows.length === 0) return 'the publication is not given up any more';
  if (task.phase === 'finished')
    await tx
      .update(tasks)
      .set({ ...publishAtOnce, phase: 'publishing', finishedAt: null, updatedAt: now })
      .where(eq(tasks.id, task.id));
  return null;
}
