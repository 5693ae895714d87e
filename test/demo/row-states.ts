import type { Client } from 'pg';
import type { TaskKind } from '../../src/domain/task.ts';

/** Where each row of a task stands, as the rows of the store say. */
export interface RowState {
  readonly row: number;
  readonly title: string;
  readonly state:
    | 'waiting'
    | 'starting'
    | 'reviewing'
    | 'working'
    | 'merging'
    | 'done'
    | 'left out'
    | 'failed'
    | 'stopped';
  /** First twelve digits; empty before there is a container. */
  readonly sandbox: string;
  /** What came of it, in a few words; empty while it is not done. */
  readonly result: string;
  /** Milliseconds since the row was started; null before. */
  readonly ms: number | null;
}

interface Row {
  readonly row: number;
  readonly title: string;
  readonly kind: string;
  readonly status: string;
  readonly code: string | null;
  readonly container: string | null;
  readonly begun: boolean;
  readonly findings: number;
  readonly files: number | null;
  readonly ms: number | null;
}

export async function readRowStates(client: Client, kind: TaskKind): Promise<RowState[]> {
  const { rows } = await client.query<Row>(
    `select s.row, s.title, s.kind, s.status, s.failure->>'code' as code, a.container_id as container,
            a.agent_started_at is not null as begun,
            (select count(*) from findings f where f.subtask_id = s.id)::int as findings,
            (select jsonb_array_length(p.entries) from patches p where p.subtask_id = s.id) as files,
            (extract(epoch from coalesce(s.finished_at, now()) - s.started_at) * 1000)::float as ms
       from subtasks s
       join tasks t on t.id = s.task_id and t.kind = $1
       left join lateral (
         select * from attempts where subtask_id = s.id order by number desc limit 1
       ) a on true
      order by s.task_id, s.row`,
    [kind],
  );
  return rows.map((row) => ({
    row: row.row,
    title: row.title,
    state: stateOf(row, kind),
    sandbox: (row.container ?? '').slice(0, 12),
    result: resultOf(row, kind),
    ms: row.ms,
  }));
}

function stateOf({ kind, status, code, begun }: Row, task: TaskKind): RowState['state'] {
  if (status === 'succeeded') return 'done';
  if (status === 'failed') return code === 'verification_failed' ? 'left out' : 'failed';
  if (status !== 'running') return status === 'waiting' ? 'waiting' : 'stopped';
  if (kind === 'integrate') return 'merging';
  if (!begun) return 'starting';
  return task === 'review' ? 'reviewing' : 'working';
}

function resultOf({ kind, status, code, findings, files }: Row, task: TaskKind): string {
  if (status === 'failed') return code ?? '';
  if (status !== 'succeeded' || kind === 'integrate') return '';
  if (task === 'review') return `${findings} ${findings === 1 ? 'finding' : 'findings'}`;
  if (files === null) return 'nothing to change';
  return `${files} ${files === 1 ? 'file' : 'files'}`;
}
