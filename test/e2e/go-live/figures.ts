import pg from 'pg';
import { pino } from 'pino';
import { createQueue } from '../../../src/scheduling/queue.ts';
import { queryRows, sandboxesOf } from '../../support/app/data-directory.ts';
import type { World } from '../../support/app/world.ts';
import type { AskedFix } from '../../support/fixes/read-fix.ts';

/** What is at zero when a fleet has nothing to do. */
export async function openEnds(world: World, databaseUrl: string) {
  const [rows] = await queryRows<Record<string, number>>(
    world.databaseDir,
    `select (select count(*) from attempts where status in ('queued', 'running'))::int as "live attempts",
            (select count(*) from subtasks where status in ('waiting', 'running'))::int as "open rows",
            (select count(*) from tasks where phase <> 'finished')::int as "open tasks",
            (select count(*) from deliveries where status = 'received')::int as "open deliveries",
            (select count(*) from publications where status in ('pending', 'sending'))::int as "open publications",
            (select count(*) from usage where state = 'reserved')::int as "reserved calls",
            (select count(*) from checkpoints)::int as "kept checkpoints"`,
  );
  const sandboxes = await sandboxesOf(world.dataDir);
  return { ...rows, sandboxes: sandboxes.length, jobs: await queuedJobs(databaseUrl) };
}

/** Jobs that wait or run, in all queues. */
async function queuedJobs(databaseUrl: string): Promise<number> {
  const queue = await createQueue({
    backend: {
      kind: 'postgres',
      newPool: (schema) =>
        new pg.Pool({ connectionString: databaseUrl, options: `-c search_path=${schema}`, max: 2 }),
    },
    queueShards: 4,
    leaseMs: 5000,
    log: pino({ level: 'silent' }),
  });
  try {
    return Object.values(await queue.depth()).reduce((sum, depth) => sum + depth, 0);
  } finally {
    await queue.close();
  }
}

/** When the agents of a fix worked, seconds: from the first's start to the last's end, and added up. */
export async function agentTimes(world: World, { number }: AskedFix) {
  const all = await queryRows<{ worker: string; started: number; finished: number }>(
    world.databaseDir,
    `select a.worker, extract(epoch from a.agent_started_at)::float8 as started,
            extract(epoch from a.finished_at)::float8 as finished
       from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
      where t.kind = 'fix' and t.number = $1 and s.kind = 'agent'`,
    [number],
  );
  const first = Math.min(...all.map(({ started }) => started));
  const last = Math.max(...all.map(({ finished }) => finished));
  return {
    attempts: all.length,
    workers: new Set(all.map(({ worker }) => worker)).size,
    /** Two of them worked at one time, on different workers. */
    overlap: all.some((one) =>
      all.some(
        (other) =>
          one.worker !== other.worker && one.started < other.finished && other.started < one.finished,
      ),
    ),
    wall: last - first,
    serial: all.reduce((sum, { started, finished }) => sum + finished - started, 0),
  };
}

/** What became of the agents' rows of a task, in their order; attempts by their failure or status. */
export function rowStories(world: World, taskId: string) {
  return queryRows(
    world.databaseDir,
    `select s.title, s.status, s.verification_reruns as reruns, s.feedback <> '' as told, p.title as part_of,
            s.depth, array(select coalesce(a.failure->>'code', a.status) from attempts a
                            where a.subtask_id = s.id order by a.number) as attempts
       from subtasks s left join subtasks p on p.id = s.parent
      where s.task_id = $1 and s.kind = 'agent' order by s.row`,
    [taskId],
  );
}
