import { mostAtOnce, summarise } from '../demo/measure.ts';
import type { AttemptRow, FanOutRows } from './read-fan-out.ts';
import { rounded } from './result.ts';
import type { ModelCall } from './stage/script.ts';

export interface FanOutShape {
  readonly subtasks: number;
  readonly parallel: number;
  /** Model calls of a subtask. */
  readonly calls: number;
  /** The least time it can take at that parallelism. */
  readonly idealMs: number;
}

export interface FanOutResult {
  /** From the stored plan to the settled task. */
  readonly wallMs: number;
  readonly ratio: number;
  /** From asking for it to the end of publishing. */
  readonly totalMs: number;
  /** Subtasks whose agents ran at one moment, at most. */
  readonly maxConcurrent: number;
  /** From claim to end of each attempt of an agent, in the order of their start. */
  readonly attemptMs: readonly number[];
  readonly stages: Readonly<Record<string, Stage>>;
}

export interface Stage {
  /** Once for each attempt, or once for the task. */
  readonly per: 'attempt' | 'task';
  readonly medianMs: number;
  readonly maxMs: number;
  /** Over all attempts, which run beside each other. */
  readonly sumMs: number;
  /** `sumMs` over parallel times ideal: what the stage adds to the ratio, were all workers always busy. */
  readonly share: number;
}

/** Where the time of a fan-out went. Fails where a subtask failed or was tried again: the figure would be of that. */
export function measureFanOut(
  seen: FanOutRows,
  journal: readonly ModelCall[],
  shape: FanOutShape,
): FanOutResult {
  const { subtasks, parallel, calls, idealMs } = shape;
  refuseFailures(seen, subtasks);
  const task = present(seen.task, 'task');
  const agents = seen.attempts
    .filter(({ kind }) => kind === 'agent')
    .map((row) => timed(row, journal, calls));
  const integrated = at(seen.attempts.find(({ kind }) => kind === 'integrate')?.finishedAt, 'integration');
  const [planned, settled, finished] = [
    at(task.plannedAt, 'plan'),
    at(task.settledAt, 'settling'),
    at(task.finishedAt, 'end'),
  ];
  const [received, created] = [task.receivedAt.getTime(), task.createdAt.getTime()];
  const over = Math.max(...agents.map((agent) => agent.finished));
  const wallMs = settled - planned;

  const stage = (per: Stage['per'], times: readonly number[]): Stage => {
    const { median, max, sum } = summarise('', times);
    const whole = per === 'attempt' ? parallel * idealMs : idealMs;
    return { per, medianMs: median, maxMs: max, sumMs: sum, share: rounded(sum / whole) };
  };
  const each = (time: (agent: Timed) => number) => stage('attempt', agents.map(time));
  const once = (ms: number) => stage('task', [ms]);
  return {
    wallMs,
    ratio: rounded(wallMs / idealMs),
    totalMs: finished - received,
    maxConcurrent: mostAtOnce(
      agents.map(({ id, agentStarted, agentEnded }) => ({ from: agentStarted, to: agentEnded, owner: id })),
    ),
    attemptMs: agents
      .toSorted((a, b) => a.claimed - b.claimed)
      .map(({ claimed, finished }) => finished - claimed),
    stages: {
      admit: once(created - received),
      plan: once(planned - created),
      advance: stage('attempt', waitsForAdvance(planned, agents)),
      queue: each((agent) => agent.claimed - agent.queued),
      start: each((agent) => agent.agentStarted - agent.claimed),
      model: each((agent) => agent.modelMs),
      exec: each((agent) => agent.agentEnded - agent.agentStarted - agent.modelMs),
      store: each((agent) => agent.finished - agent.agentEnded),
      integrate: once(integrated - over),
      settle: once(settled - integrated),
      publish: once(finished - settled),
    },
  };
}

function refuseFailures({ task, subtasks, attempts }: FanOutRows, expected: number): void {
  const tell = (title: string, status: string, failure: { code: string; detail: string } | null) =>
    `${title}: ${status}${failure === null ? '' : ` (${failure.code}: ${failure.detail})`}`;
  const failed = [
    ...(task?.outcome === 'succeeded'
      ? []
      : [tell('the task', task?.outcome ?? 'open', task?.failure ?? null)]),
    ...subtasks.flatMap(({ title, status, failure }) =>
      status === 'succeeded' ? [] : [tell(title, status, failure)],
    ),
    ...attempts.flatMap(({ title, status, failure }) =>
      status === 'succeeded' ? [] : [`an attempt of ${tell(title, status, failure)}`],
    ),
  ];
  const planned = subtasks.filter(({ kind }) => kind === 'agent').length;
  if (planned !== expected) failed.push(`${planned} subtasks were planned, not ${expected}`);
  if (failed.length > 0)
    throw new Error(`there is no figure, since not all went well:\n${failed.join('\n')}`);
}

/** One attempt, in milliseconds since the epoch. */
interface Timed {
  readonly id: string;
  readonly queued: number;
  readonly claimed: number;
  readonly agentStarted: number;
  /** The end of its last model call, which says that it is finished. */
  readonly agentEnded: number;
  readonly finished: number;
  /** Time of its model calls. */
  readonly modelMs: number;
}

function timed(row: AttemptRow, journal: readonly ModelCall[], calls: number): Timed {
  const own = journal.filter(({ attempt }) => attempt === row.id);
  if (own.length !== calls) throw new Error(`${row.title} made ${own.length} model calls, not ${calls}`);
  return {
    id: row.id,
    queued: row.queuedAt.getTime(),
    claimed: at(row.claimedAt, `claim of ${row.title}`),
    agentStarted: at(row.agentStartedAt, `agent of ${row.title}`),
    agentEnded: Math.max(...own.map(({ endedAt }) => endedAt)),
    finished: at(row.finishedAt, `end of ${row.title}`),
    modelMs: own.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0),
  };
}

/** From what let an attempt start (the plan, or the end of an earlier one whose place it takes) to its being queued. */
function waitsForAdvance(planned: number, agents: readonly Timed[]): number[] {
  const queued = agents.map((agent) => agent.queued).toSorted((a, b) => a - b);
  const ends = agents.map(({ finished }) => finished).toSorted((a, b) => a - b);
  const first = queued.findIndex((time) => time >= (ends[0] ?? 0));
  const atOnce = first === -1 ? queued.length : first;
  return queued.map((time, index) => time - (index < atOnce ? planned : (ends[index - atOnce] ?? time)));
}

function at(time: Date | null | undefined, what: string): number {
  return present(time, `time of the ${what}`).getTime();
}

function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`the rows have no ${what}`);
  return value;
}
