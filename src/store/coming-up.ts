import { sql } from 'drizzle-orm';
import { ago } from './clock.ts';
import type { Database } from './database.ts';
import { attempts, dependencies, subtasks, workers } from './schema.ts';

/** See `Attempts.comingUp`. One statement over the open rows of those tasks. */
export async function comingUp(
  db: Database,
  leaseMs: number,
  taskIds: readonly string[],
  worker: string,
): Promise<{ taskId: string; memoryMib: number | null; count: number }[]> {
  const { rows } = await db.execute<{ task: string; memory: number | null; count: number }>(sql`
    select s.task_id as task, s.memory_mib as memory,
           (count(*) filter (where a.status = 'running')
             + ceil(count(*) filter (where a.status is distinct from 'running') / greatest(1, (
                 select count(*) from ${workers} w
                  where w.seen_at > ${ago(leaseMs)}))::float8))::int as count
      from ${subtasks} s
      left join ${attempts} a on a.subtask_id = s.id and a.status in ('queued', 'running')
     where s.task_id = any(${sql.param(taskIds)}::uuid[]) and s.kind = 'agent' and s.base is null
       and (case s.status
              -- Those of other workers are theirs to see to.
              when 'running' then a.status = 'queued'
                or (a.status = 'running' and a.worker = ${worker} and a.container_id is null)
              when 'waiting' then true
              else false end)
       and not exists (select 1 from ${dependencies} d where d.subtask_id = s.id)
     group by 1, 2 order by 1, 2`);
  return rows.map(({ task, memory, count }) => ({ taskId: task, memoryMib: memory, count }));
}
