import { queryRows } from '../app/data-directory.ts';
import { until } from '../app/until.ts';
import { describeWorld } from '../app/until-done.ts';
import type { World } from '../app/world.ts';

/** A fix as it was asked for. */
export interface AskedFix {
  /** The issue or pull request. */
  readonly number: number;
  /** The comment with the command. */
  readonly commandId: number;
}

/** A maintainer asks for it, on an issue of their own unless there is one (or a pull request) already. */
export async function askFix({ github, repository }: World, number?: number): Promise<AskedFix> {
  await github.setPermission(repository, 'wilma', 'write');
  const subject =
    number ?? (await github.openIssue(repository, { title: 'New values', author: 'mona' })).number;
  const body = '/patchfleet fix give every value its new text';
  const { id } = await github.comment(repository, subject, { author: 'wilma', body });
  return { number: subject, commandId: id };
}

interface TaskFacts {
  readonly id: string;
  readonly phase: string;
  readonly outcome: string | null;
  /** Of the newest candidate. */
  readonly tree: string | null;
  readonly rounds: number | null;
}

export function fixTasks(world: World, { number }: AskedFix): Promise<TaskFacts[]> {
  return queryRows<TaskFacts & Record<string, unknown>>(
    world.databaseDir,
    `select t.id, t.phase, t.outcome, c.candidate->>'tree' as tree, c.rounds
       from tasks t left join candidates c on c.task_id = t.id
      where t.kind = 'fix' and t.number = $1`,
    [number],
  );
}

/** Waits until the fix is finished. Fails at once when an app ended by itself. */
export async function untilFixed(world: World, fix: AskedFix, options: { limitMs?: number } = {}) {
  await until(
    `the fix on #${fix.number} is finished`,
    async () => {
      const ended = world.apps.find((app) => (app.exitCode() ?? 0) !== 0);
      if (ended !== undefined) throw new Error(`an app ended by itself:\n${await describeWorld(world)}`);
      return (await fixTasks(world, fix)).some(({ phase }) => phase === 'finished');
    },
    { limitMs: 240_000, everyMs: 100, ...options, describe: () => describeWorld(world) },
  );
  await world.github.settled();
}

/** What GitHub shows of a fix, and how it stands to what was verified. */
export async function readFix(world: World, fix: AskedFix) {
  const { github, repository } = world;
  const tasks = await fixTasks(world, fix);
  const [task] = tasks;
  const ref = `patchfleet/${task?.id}`;
  const branches = Object.entries(await github.refs(repository, `refs/heads/${ref}`));
  const pulls = (await github.pullRequests(repository)).filter(({ headRef }) => headRef.startsWith(ref));
  const bot = `${github.app.slug}[bot]`;
  const comments = (await github.comments(repository, fix.number)).filter(
    ({ author }) => author.login === bot,
  );
  const heads = await Promise.all(branches.map(([, sha]) => github.commitAt(repository, sha)));
  const reactions = await github.reactions(fix.commandId);
  return {
    tasks: tasks.length,
    outcome: task?.outcome ?? null,
    rounds: task?.rounds ?? null,
    branches: branches.length,
    /** The head of the branch. */
    head: heads[0] ?? null,
    isCandidate: heads.length > 0 && heads.every((head) => head?.tree === task?.tree),
    pulls,
    answers: comments.map(({ body }) => body),
    reactions: reactions.map(({ content }) => content),
  };
}

/** Files that a task must not leave in the data directory are looked for elsewhere; these are its open locks. */
export async function openLocks(world: World): Promise<number> {
  const [row] = await queryRows<{ locks: number }>(
    world.databaseDir,
    `select count(*)::int as locks from pg_locks where locktype = 'advisory'`,
  );
  return row?.locks ?? 0;
}
