import { queryRows } from './data-directory.ts';
import { tail } from './start-app.ts';
import { type UntilOptions, until } from './until.ts';
import type { World } from './world.ts';

/**
 * Waits until the check run of the head is completed, and returns it. Fails at once when an app ended by itself;
 * after `limitMs` with the state of the check runs and the end of the logs.
 */
export async function untilDone(world: World, headSha: string, options: UntilOptions = {}) {
  const { github, repository } = world;
  return until(
    `the check run of ${headSha.slice(0, 12)} is completed`,
    async () => {
      const ended = world.apps.find((app) => (app.exitCode() ?? 0) !== 0);
      if (ended !== undefined) throw new Error(`an app ended by itself:\n${tail(ended.logs())}`);
      const runs = (await github.checkRuns(repository)).filter((run) => run.headSha === headSha);
      return runs.find((run) => run.status === 'completed');
    },
    { ...options, describe: () => describeWorld(world) },
  );
}

/** Waits until nothing is left to do in the rows: tasks finished (or waiting for an approval), deliveries settled. */
export async function untilIdle(world: World, options: UntilOptions = {}) {
  const limitMs = 240_000;
  await world.github.settled();
  await until(
    'all work is done',
    async () => {
      const [row] = await queryRows<{ open: number }>(
        world.databaseDir,
        `select (select count(*) from tasks
                  where phase <> 'finished' and not (phase = 'held' and start_after is null))::int
              + (select count(*) from deliveries where status = 'received')::int as open`,
      );
      return row?.open === 0;
    },
    { limitMs, ...options, describe: () => describeWorld(world) },
  );
}

/** For messages of failures. */
export async function describeWorld(world: World): Promise<string> {
  const runs = (await world.github.checkRuns(world.repository)).map(
    ({ name, headSha, status, conclusion, title }) => `${name} ${headSha} ${status} ${conclusion} ${title}`,
  );
  const deliveries = (await world.github.deliveries()).map(
    ({ event, action, status }) => `${event}.${action} ${status}`,
  );
  const logs = world.apps.map((app) => `--- log of ${app.role} (${app.pid})\n${tail(app.logs(), 20)}`);
  const { unexpected, violations } = world.github;
  return [
    `check runs: ${JSON.stringify(runs)}`,
    `deliveries: ${JSON.stringify(deliveries)}`,
    `problems of the GitHub double: ${JSON.stringify([...unexpected, ...violations])}`,
    `calls of the model: ${world.model.journal().length}`,
    ...logs,
  ].join('\n');
}
