import { queryRows } from './data-directory.ts';
import { untilIdle } from './until-done.ts';
import type { World } from './world.ts';

export interface Asked {
  /** `owner/name`; default the world's own. */
  readonly repository?: string;
  /** Default `wilma`. */
  readonly author?: string;
}

/** A user comments on an issue or pull request; what our app reacted and wrote there, once all work is done. */
export async function ask(world: World, number: number, body: string, options: Asked = {}) {
  const { github } = world;
  const { repository = world.repository, author = 'wilma' } = options;
  const before = await ownComments(world, number, repository);
  const { id } = await github.comment(repository, number, { author, body });
  await untilIdle(world);
  const after = await ownComments(world, number, repository);
  return {
    reactions: (await github.reactions(id)).map(({ content }) => content),
    answers: after.slice(before.length),
  };
}

/** Comments of our app, without the markers that nobody sees. */
export async function ownComments(world: World, number: number, repository = world.repository) {
  const comments = await world.github.comments(repository, number);
  return comments
    .filter(({ author }) => author.type === 'Bot')
    .map(({ body }) => body.replace(/^<!-- .*? -->\n*/, ''));
}

/** Pull requests that our app opened. */
export async function ownPulls(world: World, repository = world.repository) {
  return (await world.github.pullRequests(repository)).filter(({ author }) => author === 'patchfleet[bot]');
}

/** A row of the store that says how a task stands; the newest first. */
export async function tasksOf(world: World, kind: string) {
  return queryRows<{ id: string; key: string; phase: string; outcome: string | null }>(
    world.databaseDir,
    'select id, key, phase, outcome from tasks where kind = $1 order by created_at desc',
    [kind],
  );
}

/** What merging left out, newest task first. */
export async function leftOutOf(world: World, kind = 'fix') {
  const rows = await queryRows<{ title: string; code: string; reason: string }>(
    world.databaseDir,
    `select s.title, l->>'code' as code, l->>'reason' as reason
       from candidates c
       join tasks t on t.id = c.task_id
       cross join lateral jsonb_array_elements(c.candidate->'leftOut') l
       join subtasks s on s.id::text = l->>'subtaskId'
      where t.id = (select id from tasks where kind = $1 order by created_at desc limit 1)
      order by s.row`,
    [kind],
  );
  return rows;
}
