import type { Client } from 'pg';
import type { TaskKind } from '../../src/domain/task.ts';
import { until } from '../support/app/until.ts';
import { describeWorld } from '../support/app/until-done.ts';
import type { World } from '../support/app/world.ts';
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

/** Shows the rows of the tasks of that kind until `done` says that GitHub has it all and every task is finished. */
export async function watch(
  stage: Stage,
  kind: TaskKind,
  what: string,
  done: () => Promise<boolean>,
  onRows: (rows: Awaited<ReturnType<typeof readRowStates>>) => Promise<void> = async () => {},
): Promise<void> {
  const { world, client, model, signal } = stage;
  const lines = stage.newLines();
  await until(
    what,
    async () => {
      const ended = world.apps.find((app) => app.exitCode() !== null);
      if (ended !== undefined) throw new Error(`Patchfleet ended by itself\n${await describeWorld(world)}`);
      const rows = await readRowStates(client, kind);
      lines.update(rows);
      await onRows(rows);
      if (!(await done())) return false;
      const open = await client.query(`select 1 from tasks where phase <> 'finished'`);
      return open.rows.length === 0;
    },
    {
      limitMs: model === null ? 120_000 : 1_800_000,
      everyMs: 100,
      describe: () => describeWorld(world),
      signal,
    },
  );
}

/** The one task of that kind, once it is finished; null before. */
export async function finishedTask(client: Client, kind: TaskKind): Promise<{ id: string } | null> {
  const { rows } = await client.query<{ id: string }>(
    `select id from tasks where kind = $1 and phase = 'finished'`,
    [kind],
  );
  return rows[0] ?? null;
}

/** The most sandboxes that worked at once. */
export function mostSandboxes({ world, model }: Stage, attempts: readonly AttemptTimes[]): number {
  // Only calls out of containers that the rows know too: the prompt alone could name anything.
  const containers = new Set(attempts.map(({ containerId }) => containerId));
  const calls = world.model
    .journal()
    .flatMap(({ startedAt, endedAt, sandbox }) =>
      containers.has(sandbox) ? [{ from: startedAt, to: endedAt ?? Date.now(), owner: sandbox }] : [],
    );
  if (model === null) return mostAtOnce(calls);
  // A real model keeps no journal for us: then the rows of the attempts have to do.
  return mostAtOnce(
    attempts.flatMap(({ agentStartedAt, finishedAt, containerId }) =>
      agentStartedAt && finishedAt && containerId
        ? [{ from: agentStartedAt.getTime(), to: finishedAt.getTime(), owner: containerId }]
        : [],
    ),
  );
}
