import type { Client } from 'pg';
import type { Failure } from '../../src/domain/failure.ts';

/** The rows of one task, as far as times are told from them. */
export interface FanOutRows {
  readonly task: {
    readonly receivedAt: Date;
    readonly createdAt: Date;
    readonly plannedAt: Date | null;
    readonly settledAt: Date | null;
    readonly finishedAt: Date | null;
    readonly outcome: string | null;
    readonly failure: Failure | null;
  } | null;
  readonly subtasks: readonly {
    readonly title: string;
    readonly kind: 'agent' | 'integrate';
    readonly status: string;
    readonly failure: Failure | null;
  }[];
  readonly attempts: readonly AttemptRow[];
}

export interface AttemptRow {
  readonly id: string;
  readonly kind: 'agent' | 'integrate';
  readonly title: string;
  readonly status: string;
  readonly failure: Failure | null;
  readonly queuedAt: Date;
  readonly claimedAt: Date | null;
  readonly agentStartedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** Attempts in the order of their being queued. */
export async function readFanOut(client: Client, taskId: string): Promise<FanOutRows> {
  const tasks = await client.query<NonNullable<FanOutRows['task']>>(
    `select d.received_at as "receivedAt", t.created_at as "createdAt", t.planned_at as "plannedAt",
            t.settled_at as "settledAt", t.finished_at as "finishedAt", t.outcome, t.failure
       from tasks t join deliveries d on d.id = t.trigger->>'deliveryId' where t.id = $1`,
    [taskId],
  );
  const subtasks = await client.query<FanOutRows['subtasks'][number]>(
    `select title, kind, status, failure from subtasks where task_id = $1 order by row`,
    [taskId],
  );
  const attempts = await client.query<AttemptRow>(
    `select a.id, s.kind, s.title, a.status, a.failure, a.queued_at as "queuedAt", a.claimed_at as "claimedAt",
            a.agent_started_at as "agentStartedAt", a.finished_at as "finishedAt"
       from attempts a join subtasks s on s.id = a.subtask_id where a.task_id = $1 order by a.queued_at, s.row`,
    [taskId],
  );
  return { task: tasks.rows[0] ?? null, subtasks: subtasks.rows, attempts: attempts.rows };
}
