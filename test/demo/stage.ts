import type { Client } from 'pg';
import type { TaskKind } from '../../src/domain/task.ts';
import { until } from '../support/app/until.ts';
import { describeWorld } from '../support/app/until-done.ts';
import type { World } from '../support/app/world.ts';
import { waitingCalls } from '../support/model/create-model-double.ts';
import type { LiveLines } from './live-lines.ts';
import { type AttemptTimes, mostAtOnce } from './measure.ts';
import { readRowStates } from './row-states.ts';

export interface RealModel {
  readonly OPENAI_BASE_URL: string;
  readonly OPENAI_API_KEY: string;
  readonly MODEL: string;
}

/** What every part of the demo works with. */
export interface Stage {
  readonly world: World;
  /** Of the app's database; can only read. */
  readonly client: Client;
  /** Null: the scripted model. */
  readonly model: RealModel | null;
  /** Lines of a new part, drawn below what was said before. */
  readonly newLines: () => LiveLines;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

interface Watching {
  /**
   * The scripted model answers no agent before so many wait for it: that they work at once is no matter of how fast the
   * machine starts them.
   */
  readonly together?: number;
  readonly onRows?: (rows: Awaited<ReturnType<typeof readRowStates>>) => Promise<void>;
}

/** Shows the rows of the tasks of that kind until `done` says that GitHub has it all and every task is finished. */
export async function watch(
  stage: Stage,
  kind: TaskKind,
  what: string,
  done: () => Promise<boolean>,
  { together = 0, onRows = async () => {} }: Watching = {},
): Promise<void> {
  const { world, client, model, signal } = stage;
  const lines = stage.newLines();
  const answer = world.model.hold(({ attempt }) => attempt !== '' && together > 0);
  await until(
    what,
    async () => {
      const ended = world.apps.find((app) => app.exitCode() !== null);
      if (ended !== undefined) throw new Error(`Patchfleet ended by itself\n${await describeWorld(world)}`);
      if (new Set(waitingCalls(world.model).map(({ sandbox }) => sandbox)).size >= together) answer();
      const rows = await readRowStates(client, kind);
      lines.update(rows);
      await onRows(rows);
      if (!(await done())) return false;
      const open = await client.query(`select 1 from tasks where phase <> 'finished'`);
      return open.rows.length === 0;
    },
    {
      limitMs: model === null ? 600_000 : 1_800_000,
      everyMs: 100,
      describe: () => describeWorld(world),
      signal,
    },
  ).finally(answer);
}

/** The one task of that kind, once it is finished; null before. */
export async function finishedTask(client: Client, kind: TaskKind): Promise<{ id: string } | null> {
  const { rows } = await client.query<{ id: string }>(
    `select id from tasks where kind = $1 and phase = 'finished'`,
    [kind],
  );
  return rows[0] ?? null;
}

/** The most sandboxes that worked at once: of the scripted model each from its first call to the end of its last. */
export function mostSandboxes({ world, model }: Stage, attempts: readonly AttemptTimes[]): number {
  const intervals = attempts.flatMap(({ agentStartedAt, finishedAt, containerId: owner }) => {
    if (agentStartedAt === null || finishedAt === null || owner === null) return [];
    // A real model keeps no journal for us: then the rows of the attempts have to do.
    if (model !== null) return [{ from: agentStartedAt.getTime(), to: finishedAt.getTime(), owner }];
    const calls = world.model.journal().filter(({ sandbox }) => sandbox === owner);
    const ends = calls.map(({ endedAt }) => endedAt ?? Date.now());
    return calls.length === 0
      ? []
      : [{ from: Math.min(...calls.map(({ startedAt }) => startedAt)), to: Math.max(...ends), owner }];
  });
  return mostAtOnce(intervals);
}
