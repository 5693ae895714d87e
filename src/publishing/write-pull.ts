import type { Answer } from './ask-github.ts';
import { ask, askAll } from './ask-github.ts';
import type { ChangeKeys, Integration } from './change.ts';
import type { ChangeContext } from './change-context.ts';
import { pullBody, pullTitle } from './render-pull.ts';
import { markerOf } from './render-reply.ts';

interface Pull {
  readonly number: number;
  readonly html_url: string;
  readonly state: string;
  readonly draft?: boolean | undefined;
  readonly id: number;
}

/** Opens the draft pull request of a branch that is out, once. Null when its row is done. */
export async function writePull(
  context: ChangeContext,
  keys: ChangeKeys,
  integration: Integration,
): Promise<Answer<null>> {
  const { deps, view } = context;
  const before = await deps.store.publications.begin(keys.pull, 'pull_request', view.task.id);
  if (before.status !== 'pending') {
    const found = await findPull(context, keys);
    if (found.refused !== null) return found;
    if (found.data !== null) return record(context, keys, found.data, false);
  }
  let answer = await create(context, keys, integration, true);
  // Private repositories of free plans know no drafts.
  if (answer.refused?.status === 422 && /draft/i.test(answer.refused.detail)) {
    answer = await create(context, keys, integration, false);
  }
  if (answer.refused === null) return record(context, keys, answer.data, true);
  if (answer.refused.status !== 422) return answer;
  const found = await findPull(context, keys);
  if (found.refused !== null) return found;
  return found.data === null ? answer : record(context, keys, found.data, false);
}

function create(
  { client, view, signal }: ChangeContext,
  keys: ChangeKeys,
  integration: Integration,
  draft: boolean,
): Promise<Answer<Pull>> {
  const { task } = view;
  return ask(`no pull request could be opened for the branch ${keys.ref}`, signal, () =>
    client.rest.pulls.create({
      ...{ owner: task.owner, repo: task.repo, head: keys.ref, base: task.targetRef, draft },
      title: pullTitle(task, integration.subtask.issue),
      body: pullBody(view, integration, keys.pull),
      request: { signal },
    }),
  );
}

/** Ours only: by our login, with our marker. */
async function findPull(
  { deps, client, view, signal }: ChangeContext,
  keys: ChangeKeys,
): Promise<Answer<Pull | null>> {
  const { owner, repo } = view.task;
  const { slug } = await deps.github.self();
  const answer = await askAll<Pull & { body: string | null; user: { login: string } | null }>(
    client,
    'the pull requests of the branch could not be read',
    signal,
    client.rest.pulls.list,
    { owner, repo, head: `${owner}:${keys.ref}`, state: 'all' },
  );
  if (answer.refused !== null) return answer;
  const marker = markerOf(keys.pull);
  const ours = answer.data.find(
    ({ body, user }) => user?.login === `${slug}[bot]` && body?.startsWith(marker) === true,
  );
  return { refused: null, data: ours ?? null };
}

async function record(
  { deps }: ChangeContext,
  keys: ChangeKeys,
  pull: Pull,
  fresh: boolean,
): Promise<Answer<null>> {
  const closed = !fresh && pull.state !== 'open';
  const notes = [
    ...(closed ? ['Somebody closed it meanwhile; it was not opened again.'] : []),
    ...(pull.draft === false ? ['It is no draft: this repository has none.'] : []),
  ];
  await deps.store.publications.done(keys.pull, {
    githubId: pull.id,
    url: pull.html_url,
    detail: {
      number: pull.number,
      ref: keys.ref,
      draft: pull.draft !== false,
      closed,
      note: notes.join(' '),
    },
  });
  return { refused: null, data: null };
}
