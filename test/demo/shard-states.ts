import type { Client } from 'pg';

/** Where each shard of the task stands, as its rows say. */
export interface ShardState {
  readonly row: number;
  readonly title: string;
  readonly state: 'waiting' | 'starting' | 'reviewing' | 'done' | 'failed' | 'stopped';
  /** First twelve digits; empty before there is a container. */
  readonly sandbox: string;
  readonly findings: number;
  /** Milliseconds since the shard was started; null before. */
  readonly ms: number | null;
}

export async function readShardStates(client: Client): Promise<ShardState[]> {
  const { rows } = await client.query<{
    row: number;
    title: string;
    status: string;
    container: string | null;
    reviewing: boolean;
    findings: number;
    ms: number | null;
  }>(
    `select s.row, s.title, s.status, a.container_id as container, a.agent_started_at is not null as reviewing,
            (select count(*) from findings f where f.subtask_id = s.id)::int as findings,
            (extract(epoch from coalesce(s.finished_at, now()) - s.started_at) * 1000)::float as ms
       from subtasks s
       left join lateral (
         select * from attempts where subtask_id = s.id order by number desc limit 1
       ) a on true
      order by s.task_id, s.row`,
  );
  return rows.map(({ row, title, status, container, reviewing, findings, ms }) => ({
    row,
    title,
    state: stateOf(status, reviewing),
    sandbox: (container ?? '').slice(0, 12),
    findings,
    ms,
  }));
}

function stateOf(status: string, reviewing: boolean): ShardState['state'] {
  if (status === 'succeeded') return 'done';
  if (status === 'failed') return 'failed';
  if (status === 'running') return reviewing ? 'reviewing' : 'starting';
  return status === 'waiting' ? 'waiting' : 'stopped';
}
