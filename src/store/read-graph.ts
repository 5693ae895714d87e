import { and, asc, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { EndedRow, EndedState, ReadyState, TaskRow } from '../domain/graph.ts';
import type { Executor } from './database.ts';
import type { Task } from './port.ts';
import { readCulprits } from './read-culprits.ts';
import { attempts, candidates, checkpoints, subtasks } from './schema.ts';

/**
 * What the scheduler sees of a graph: its open ends, by partial indexes, so that a look costs the same however many
 * rows are over. States are spelled out in the statements, since an index of some rows serves no parameter.
 */

/** Where the repository file could not be read no agent runs either. */
const defaultMaxRows = 40;

/** The rows whose newest attempt is over; null: there are none. */
export async function readEnded(tx: Executor, task: Task): Promise<EndedState | null> {
  const rows = await tx
    .select()
    .from(subtasks)
    .where(
      and(
        eq(subtasks.taskId, task.id),
        sql`${subtasks.status} = 'running'`,
        sql`not exists (
          select 1 from ${attempts}
          where ${attempts.subtaskId} = ${subtasks.id} and ${attempts.status} in ('queued', 'running'))`,
      ),
    )
    .orderBy(asc(subtasks.row));
  if (rows.length === 0) return null;
  const ids = rows.map(({ id }) => id);
  const newest = await tx
    .selectDistinctOn([attempts.subtaskId], {
      subtaskId: attempts.subtaskId,
      status: attempts.status,
      requested: attempts.requested,
      progressed: sql<boolean>`attempts.turns > 0 or exists (
        select 1 from ${checkpoints} where checkpoints.attempt_id = attempts.id)`,
    })
    .from(attempts)
    .where(inArray(attempts.subtaskId, ids))
    .orderBy(attempts.subtaskId, desc(attempts.number));
  const integrating = rows.filter(({ kind }) => kind === 'integrate').map(({ id }) => id);
  const made =
    integrating.length === 0
      ? []
      : await tx.select().from(candidates).where(inArray(candidates.subtaskId, integrating));
  const ended = rows.map((row): EndedRow => {
    const attempt = newest.find(({ subtaskId }) => subtaskId === row.id);
    const { id, kind, issue, title, agent, fallbacks, matrix, complexity, depth, failures, deaths } = row;
    const { verificationReruns, conflictReruns, base, memoryMib } = row;
    return {
      ...{ id, row: row.row, kind, issue, title, agent, fallbacks, matrix, complexity, depth },
      ...{ failures, deaths, verificationReruns, conflictReruns, base, memoryMib },
      attempt: attempt?.status ?? 'failed',
      failure: row.failure,
      progressed: attempt?.progressed ?? false,
      requested: attempt?.requested ?? [],
      candidate: made.find(({ subtaskId }) => subtaskId === row.id)?.candidate ?? null,
    };
  });
  const succeeded = ended.filter(({ attempt }) => attempt === 'succeeded');
  const leftOut = succeeded.flatMap(({ candidate }) => candidate?.leftOut ?? []);
  return {
    step: 'ended',
    ended,
    retriesUsed: task.retriesUsed,
    culprits: await readCulprits(tx, leftOut),
    rows: succeeded.some(({ requested }) => requested.length > 0) ? await readRows(tx, task.id) : [],
    maxRows: task.config?.fix.max_subtasks ?? defaultMaxRows,
    protectedGlobs: task.config?.verify.protected ?? [],
  };
}

/** What may start at `now`, as much as there is room for. No row of the task is `ended`. */
export async function readReady(
  tx: Executor,
  taskId: string,
  parallel: number,
  now: Date,
): Promise<ReadyState> {
  const of = (condition: SQL) => sql`from ${subtasks} where ${subtasks.taskId} = ${taskId} and ${condition}`;
  const free = sql`${subtasks.status} = 'waiting' and ${subtasks.unmet} = 0`;
  const {
    rows: [counts],
  } = await tx.execute<{ live: number; next: Date | string | null }>(sql`select
    (select count(*)::int ${of(sql`${subtasks.status} = 'running'`)}) as live,
    (select min(${subtasks.notBefore}) ${of(sql`${free} and ${subtasks.notBefore} > ${now.toISOString()}`)}) as next`);
  const live = counts?.live ?? 0;
  const nextStart = counts?.next == null ? null : new Date(counts.next).getTime();
  const room = parallel - live;
  const { rows: ready } =
    room <= 0
      ? { rows: [] }
      : await tx.execute<{ id: string }>(sql`select ${subtasks.id} as id
          ${of(sql`${free} and (${subtasks.notBefore} is null or ${subtasks.notBefore} <= ${now.toISOString()})`)}
          order by ${subtasks.path} desc nulls last, ${subtasks.row} limit ${room}`);
  const over = live === 0 && ready.length === 0 && nextStart === null;
  return {
    step: 'ready',
    ready: ready.map(({ id }) => id),
    live,
    parallel,
    nextStart,
    tally: over ? await readTally(tx, taskId) : null,
  };
}

async function readTally(tx: Executor, taskId: string): Promise<NonNullable<ReadyState['tally']>> {
  const rows = await tx
    .select({
      kind: subtasks.kind,
      succeeded: sql<number>`count(*) filter (where ${subtasks.status} = 'succeeded')`.mapWith(Number),
      total: sql<number>`count(*)`.mapWith(Number),
    })
    .from(subtasks)
    .where(and(eq(subtasks.taskId, taskId), sql`${subtasks.status} <> 'split'`))
    .groupBy(subtasks.kind);
  const of = (kind: 'agent' | 'integrate') => {
    const { succeeded, total } = rows.find((row) => row.kind === kind) ?? { succeeded: 0, total: 0 };
    return { succeeded, total };
  };
  return { agents: of('agent'), integrations: of('integrate') };
}

function readRows(tx: Executor, taskId: string): Promise<TaskRow[]> {
  return tx
    .select({
      id: subtasks.id,
      row: subtasks.row,
      kind: subtasks.kind,
      issue: subtasks.issue,
      status: subtasks.status,
      title: subtasks.title,
      writes: sql<string[]>`${subtasks.matrix} -> 'writes'`,
    })
    .from(subtasks)
    .where(eq(subtasks.taskId, taskId))
    .orderBy(asc(subtasks.row));
}
