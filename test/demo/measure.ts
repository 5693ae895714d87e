import type { Client } from 'pg';
import type { TaskKind } from '../../src/domain/task.ts';

/** The figures of a task, from the rows of the store and the calls that the model saw. */

export interface Interval {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Intervals of one owner never count twice at the same moment. */
  readonly owner: string;
}

/** The most owners that had an interval open at one moment. Touching ends do not overlap. */
export function mostAtOnce(intervals: readonly Interval[]): number {
  const edges = intervals
    .flatMap(({ from, to, owner }) => [
      { at: from, change: 1, owner },
      { at: to, change: -1, owner },
    ])
    .toSorted((a, b) => a.at - b.at || a.change - b.change);
  const open = new Map<string, number>();
  let most = 0;
  for (const { change, owner } of edges) {
    const count = (open.get(owner) ?? 0) + change;
    if (count === 0) open.delete(owner);
    else open.set(owner, count);
    most = Math.max(most, [...open.values()].filter((value) => value > 0).length);
  }
  return most;
}

export interface StageTimes {
  readonly stage: string;
  readonly count: number;
  /** Milliseconds. */
  readonly median: number;
  readonly max: number;
  readonly sum: number;
}

export function summarise(stage: string, times: readonly number[]): StageTimes {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    stage,
    count: times.length,
    median: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
    max: sorted.at(-1) ?? 0,
    sum: times.reduce((sum, time) => sum + time, 0),
  };
}

export interface AttemptTimes {
  readonly containerId: string | null;
  readonly queuedAt: Date;
  readonly claimedAt: Date | null;
  readonly agentStartedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface TaskTimes {
  readonly receivedAt: Date;
  readonly createdAt: Date;
  readonly plannedAt: Date | null;
  readonly settledAt: Date | null;
  readonly finishedAt: Date | null;
}

/**
 * The stages that a delivery passes, in order. What did not come to its end is left out; `merges` are the attempts
 * of the rows that merge, which run no agent.
 */
export function stagesOf(
  tasks: readonly TaskTimes[],
  attempts: readonly AttemptTimes[],
  merges: readonly AttemptTimes[],
): StageTimes[] {
  const spans = <T>(items: readonly T[], from: (item: T) => Date | null, to: (item: T) => Date | null) =>
    items.flatMap((item) => {
      const [start, end] = [from(item), to(item)];
      return start === null || end === null ? [] : [end.getTime() - start.getTime()];
    });
  const taskSpans = (from: keyof TaskTimes, to: keyof TaskTimes) =>
    spans(
      tasks,
      (t) => t[from],
      (t) => t[to],
    );
  const attemptSpans = (of: readonly AttemptTimes[], from: AttemptMoment, to: AttemptMoment) =>
    spans(
      of,
      (a) => a[from],
      (a) => a[to],
    );
  const merging = summarise('merge and verify', attemptSpans(merges, 'claimedAt', 'finishedAt'));
  return [
    summarise('admit', taskSpans('receivedAt', 'createdAt')),
    summarise('plan', taskSpans('createdAt', 'plannedAt')),
    summarise('wait for a worker', attemptSpans(attempts, 'queuedAt', 'claimedAt')),
    summarise('start a sandbox', attemptSpans(attempts, 'claimedAt', 'agentStartedAt')),
    summarise('agent', attemptSpans(attempts, 'agentStartedAt', 'finishedAt')),
    ...(merges.length === 0 ? [] : [merging]),
    summarise('publish', taskSpans('settledAt', 'finishedAt')),
  ];
}

type AttemptMoment = Exclude<keyof AttemptTimes, 'containerId'>;

/** Of the tasks of that kind. */
export async function readTimes(client: Client, kind: TaskKind) {
  const tasks = await client.query<TaskTimes>(
    `select d.received_at as "receivedAt", t.created_at as "createdAt", t.planned_at as "plannedAt",
            t.settled_at as "settledAt", t.finished_at as "finishedAt"
       from tasks t join deliveries d on d.id = t.trigger->>'deliveryId' where t.kind = $1`,
    [kind],
  );
  const attempts = await client.query<AttemptTimes & { kind: string }>(
    `select s.kind, a.container_id as "containerId", a.queued_at as "queuedAt", a.claimed_at as "claimedAt",
            a.agent_started_at as "agentStartedAt", a.finished_at as "finishedAt"
       from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
      where t.kind = $1 order by a.queued_at`,
    [kind],
  );
  const found = await client.query<{ subtasks: number }>(
    `select count(distinct f.subtask_id)::int as subtasks
       from findings f join tasks t on t.id = f.task_id where t.kind = $1`,
    [kind],
  );
  return {
    tasks: tasks.rows,
    attempts: attempts.rows.filter((attempt) => attempt.kind === 'agent'),
    merges: attempts.rows.filter((attempt) => attempt.kind === 'integrate'),
    /** Subtasks that found something. */
    findings: found.rows[0]?.subtasks ?? 0,
  };
}
