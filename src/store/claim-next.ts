import { sql } from 'drizzle-orm';
import { ago, now } from './clock.ts';
import type { Database, Executor } from './database.ts';
import { attempts, subtasks, tasks, workers } from './schema.ts';

/**
 * Which queued attempt a worker takes next. One claim at a time over all replicas, so that limits are exact and turns
 * are fair; choosing, be it of many, is one statement over the live attempts, whatever has ended before.
 *
 * In this order:
 * 1. lane: the task's priority, better by one lane for each `laneMs` waited, without an end: nothing starves;
 * 2. the installation with the fewest running attempts, then the task with the fewest: turns are fair;
 * 3. the longest remaining path of its task, then the oldest.
 *
 * Of many that wait a worker takes no more at once than its share of them among the workers that live.
 *
 * Left out: what its installation, or the fleet, has no room for; what is heavier than `free` (but once it has waited
 * for a lane it holds back what comes after it, else a heavy one would never find a worker that is free enough); and
 * for {@link avoidMs} a retry of a row that failed or died on this worker, while another one lives that has not
 * failed it.
 */

export interface ClaimLimits {
  /** Attempts of one installation, and of all, that may run at once. */
  readonly installationParallel: number;
  readonly fleetParallel: number;
  /** Waiting this long is worth a lane, milliseconds. */
  readonly laneMs: number;
  /** A worker without a sign of life for this long is not counted on, milliseconds. */
  readonly leaseMs: number;
}

/** The defaults of the operator file. */
export const defaultClaimLimits: ClaimLimits = {
  installationParallel: 200,
  fleetParallel: 400,
  laneMs: 300_000,
  leaseMs: 15_000,
};

/** Between two lanes of `tasks.priority`. */
const laneStep = 10;
/** How long a retry waits for a worker that has not failed its row, milliseconds. Worth less than a late retry. */
export const avoidMs = 3000;
/** Any constant does, as long as nobody else uses it: "claimnxt" in ASCII, as a 64-bit number. */
const claimLock = '7164208212675033204';

/** `free`: weight the worker can take; `capacity`: what it could take at most, by default as much. */
export interface Room {
  readonly free: number;
  readonly capacity?: number;
}

/**
 * Takes up to `most` of the best queued attempts for that worker by `mark`, in one transaction, the best first; as many
 * claims of one each would take the same. Empty: there is nothing for it now.
 */
export function claimNext<T>(
  db: Database,
  limits: ClaimLimits,
  worker: string,
  room: Room & { readonly most: number },
  mark: (tx: Executor, attemptIds: readonly string[]) => Promise<T[]>,
): Promise<T[]> {
  return db.transaction(async (tx) => {
    // A statement of its own: the choice must see what the holder before has committed.
    await tx.execute(sql.raw(`select pg_advisory_xact_lock(${claimLock})`));
    for (;;) {
      const chosen = await choose(tx, limits, worker, room);
      if (chosen.length === 0) return [];
      // None: they were cancelled between the two; they are seen no more then.
      const marked = await mark(tx, chosen);
      if (marked.length > 0) return marked;
    }
  });
}

async function choose(
  tx: Executor,
  limits: ClaimLimits,
  worker: string,
  { free, capacity = free, most }: Room & { readonly most: number },
): Promise<string[]> {
  const waited = sql`greatest(0, extract(epoch from ${now} - a.queued_at)::float8 * 1000)`;
  // What is heavier than the whole worker takes all of it.
  const weight = sql`least(s.weight, ${capacity})`;
  const order = sql`path desc, queued_at, row, id`;
  const { rows } = await tx.execute<{ id: string; weight: number; overdue: boolean }>(sql`
    with busy as (
      select t.installation_id, a.task_id, count(*)::int as n
        from ${attempts} a join ${tasks} t on t.id = a.task_id
       where a.status = 'running' group by 1, 2
    ), houses as (select installation_id, sum(n)::int as n from busy group by 1
    ), queued as (
      select a.id, a.task_id, t.installation_id, s.path, a.queued_at, s.row,
             ${weight} as weight, ${waited} >= ${limits.laneMs} as overdue,
             t.priority - ${laneStep} * floor(${waited} / ${limits.laneMs}) as lane,
             coalesce(houses.n, 0) as of_house, coalesce(busy.n, 0) as of_task
        from ${attempts} a
        join ${tasks} t on t.id = a.task_id
        -- Says nothing new, but has an index that holds no row that ended.
        join ${subtasks} s on s.id = a.subtask_id and s.status = 'running'
        left join busy on busy.task_id = a.task_id
        left join houses on houses.installation_id = t.installation_id
       where a.status = 'queued'
         and (${weight} <= ${free} or ${waited} >= ${limits.laneMs})
         and not (
           s.failures + s.deaths > 0 and ${waited} < ${avoidMs}
           and ${failedBy(sql`${worker}`)}
           and exists (
             select 1 from ${workers} w
              where w.name <> ${worker} and w.seen_at > ${ago(limits.leaseMs)}
                and not ${failedBy(sql`w.name`)}))
    ), task_turns as (
      -- Each counts those that are taken before it: turns are as fair within one claim as over many.
      select *, of_task + row_number() over (partition by task_id order by lane, ${order}) - 1 as task_turn
        from queued
    ), turns as (
      select *, of_house + row_number() over (
               partition by installation_id order by lane, task_turn, ${order}) - 1 as house_turn
        from task_turns
    )
    select id, weight, overdue from turns
     where house_turn < ${limits.installationParallel}
     order by lane, house_turn, task_turn, ${order}
     limit greatest(0, least(${most}::int,
       ${limits.fleetParallel}::int - (select coalesce(sum(n), 0)::int from busy),
       (select ceil(count(*) / greatest(1, (
          select count(*) from ${workers} w where w.seen_at > ${ago(limits.leaseMs)}))::float8)::int
          from turns)))`);
  const chosen: string[] = [];
  let left = free;
  for (const row of rows) {
    if (row.weight <= left) {
      chosen.push(row.id);
      left -= row.weight;
    } else if (row.overdue) break;
  }
  return chosen;
}

/** Whether the row of attempt `a` failed on that worker, or died with it. Counted, so that all rows are never read. */
function failedBy(worker: ReturnType<typeof sql>) {
  return sql`(
    select count(*) from ${attempts} f
     where f.subtask_id = a.subtask_id and f.worker = ${worker} and f.status in ('failed', 'lost')) > 0`;
}
