import type { Client } from 'pg';

/** The figures of a review, from the rows of the store and the calls that the model saw. */

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

/** The stages that a delivery passes, in order. What did not come to its end is left out. */
export function stagesOf(tasks: readonly TaskTimes[], attempts: readonly AttemptTimes[]): StageTimes[] {
  const spans = <T>(items: readonly T[], from: (item: T) => Date | null, to: (item: T) => Date | null) =>
    items.flatMap((item) => {
      const [start, end] = [from(item), to(item)];
      return start === null || end === null ? [] : [end.getTime() - start.getTime()];
    });
  return [
    summarise(
      'admit',
      spans(
        tasks,
        (t) => t.receivedAt,
        (t) => t.createdAt,
      ),
    ),
    summarise(
      'plan',
      spans(
        tasks,
        (t) => t.createdAt,
        (t) => t.plannedAt,
      ),
    ),
    summarise(
      'wait for a worker',
      spans(
        attempts,
        (a) => a.queuedAt,
        (a) => a.claimedAt,
      ),
    ),
    summarise(
      'start a sandbox',
      spans(
        attempts,
        (a) => a.claimedAt,
        (a) => a.agentStartedAt,
      ),
    ),
    summarise(
      'agent',
      spans(
        attempts,
        (a) => a.agentStartedAt,
        (a) => a.finishedAt,
      ),
    ),
    summarise(
      'publish',
      spans(
        tasks,
        (t) => t.settledAt,
        (t) => t.finishedAt,
      ),
    ),
  ];
}

export async function readTimes(client: Client): Promise<{ tasks: TaskTimes[]; attempts: AttemptTimes[] }> {
  const tasks = await client.query<TaskTimes>(
    `select d.received_at as "receivedAt", t.created_at as "createdAt", t.planned_at as "plannedAt",
            t.settled_at as "settledAt", t.finished_at as "finishedAt"
       from tasks t join deliveries d on d.id = t.trigger->>'deliveryId'`,
  );
  const attempts = await client.query<AttemptTimes>(
    `select container_id as "containerId", queued_at as "queuedAt", claimed_at as "claimedAt",
            agent_started_at as "agentStartedAt", finished_at as "finishedAt"
       from attempts order by queued_at`,
  );
  return { tasks: tasks.rows, attempts: attempts.rows };
}
