import { sql } from 'drizzle-orm';
import { ago } from './clock.ts';
import type { Database } from './database.ts';
import { attempts, dependencies, subtasks, workers } from './schema.ts';

/**
 * See `Attempts.comingUp`. One statement, which reads what is live of those tasks and the waiting rows that start first:
 * as many as all workers could take at once, however large the graphs are.
 */
export async function comingUp(
  db: Database,
  leaseMs: number,
  taskIds: readonly string[],
  { worker, most }: { readonly worker: string; readonly most: number },
): Promise<{ taskId: string; memoryMib: number | null; count: number }[]> {
  // Of agents, over the head of the task.
  const counts = (row: ReturnType<typeof sql>) => sql`${row}.kind = 'agent' and ${row}.base is null
    and not exists (select 1 from ${dependencies} d where d.subtask_id = ${row}.id)`;
  const { rows } = await db.execute<{ task: string; memory: number | null; count: number }>(sql`
    with alive as (
      select greatest(1, count(*)) as workers from ${workers} w where w.seen_at > ${ago(leaseMs)})
    select task.id as task, row.memory_mib as memory,
           (count(*) filter (where row.claimed)
             + ceil(count(*) filter (where not row.claimed) / max(alive.workers)::float8))::int as count
      from unnest(${sql.param(taskIds)}::uuid[]) as task(id) cross join alive cross join lateral (
        select s.memory_mib, a.status = 'running' as claimed
          from ${subtasks} s
          join ${attempts} a on a.subtask_id = s.id and a.status in ('queued', 'running')
         where s.task_id = task.id and s.status = 'running' and ${counts(sql`s`)}
           -- Those of other workers are theirs to see to.
           and (a.status = 'queued' or (a.worker = ${worker} and a.container_id is null))
        union all
        select first.memory_mib, false from (
          select s.id, s.kind, s.base, s.memory_mib from ${subtasks} s
           where s.task_id = task.id and s.status = 'waiting' and s.unmet = 0
           -- As the index of what is ready goes, nulls and all: else every waiting row would be read.
           order by s.path desc nulls last, s.row limit ${most}::int * alive.workers) first
         where ${counts(sql`first`)}) row
     group by 1, 2 order by 1, 2`);
  return rows.map(({ task, memory, count }) => ({ taskId: task, memoryMib: memory, count }));
}
