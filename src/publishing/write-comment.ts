import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient } from '../github/port.ts';
import { type Answer, ask, askAll, type PublishingDeps } from './ask-github.ts';
import { contentFingerprint } from './content-fingerprint.ts';
import { markerOf, renderComment } from './render-reply.ts';

/** One comment of ours on an issue or pull request, known by its key, which is also its marker. */
export interface OwnComment {
  readonly key: string;
  readonly repository: RepositoryRef;
  readonly issue: number;
  /** Markdown; what comes from outside in it is defused already. */
  readonly body: string;
  readonly taskId: string | null;
  /** Milliseconds that the last update must be old before another is made; left out: it never waits. */
  readonly waitFor?: (sentAt: Date) => number;
}

/**
 * Creates the comment, or updates it where its text differs. A refusal is recorded, not thrown. Returns the
 * milliseconds to wait where the update came too soon, else 0.
 */
export function publishComment(
  deps: PublishingDeps,
  comment: OwnComment,
  signal?: AbortSignal,
): Promise<number> {
  return deps.store.withLock(`publish:${comment.key}`, () => putComment(deps, comment, signal));
}

/** As {@link publishComment}, for whoever holds a lock that keeps all others from this comment. */
export async function putComment(
  deps: PublishingDeps,
  comment: OwnComment,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { publications } = deps.store;
  const { key, taskId } = comment;
  const body = renderComment(key, comment.body);
  const fingerprint = contentFingerprint(body);
  const row = await publications.get(key);
  // What GitHub refused is refused for this task; another task may find the conversation open again.
  if (row?.status === 'failed' && (taskId === null || row.taskId === taskId)) return 0;
  if (row?.status === 'done' && row.fingerprint === fingerprint) return 0;
  if (row?.status === 'done' && row.githubId !== null && row.sentAt !== null) {
    const wait = comment.waitFor?.(row.sentAt) ?? 0;
    if (wait > 0) return wait;
  }
  const client = await deps.github.client(comment.repository.installationId);
  const before = await publications.begin(key, 'comment', taskId);
  const known = { id: before.githubId, doubt: before.status !== 'pending' };
  const answer = await send(deps, client, comment, body, known, signal);
  if (answer.refused === null) {
    const { id, html_url: url } = answer.data;
    await publications.done(key, { githubId: id, url, fingerprint });
    return 0;
  }
  // A comment that somebody deleted is not wanted; a locked conversation stays as it is.
  const { status, detail } = answer.refused;
  deps.log.warn({ key, status, detail }, 'comment refused');
  await publications.fail(key, { code: 'github_refused', detail });
  return 0;
}

type Comment = { readonly id: number; readonly html_url: string };

async function send(
  deps: PublishingDeps,
  client: InstallationClient,
  comment: OwnComment,
  body: string,
  known: { readonly id: number | null; readonly doubt: boolean },
  signal: AbortSignal | undefined,
): Promise<Answer<Comment>> {
  const { owner, name: repo } = comment.repository;
  const target = { owner, repo, ...(signal === undefined ? {} : { request: { signal } }) };
  let { id } = known;
  if (id === null && known.doubt) {
    const found = await findComment(deps, client, comment, signal);
    if (found.refused !== null) return found;
    if (found.data?.body === body) return { refused: null, data: found.data };
    id = found.data?.id ?? null;
  }
  const own = id;
  return ask('the comment could not be written', signal, () =>
    own === null
      ? client.rest.issues.createComment({ ...target, issue_number: comment.issue, body })
      : client.rest.issues.updateComment({ ...target, comment_id: own, body }),
  );
}

async function findComment(
  deps: PublishingDeps,
  client: InstallationClient,
  comment: OwnComment,
  signal: AbortSignal | undefined,
): Promise<Answer<(Comment & { body?: string }) | null>> {
  const { owner, name: repo } = comment.repository;
  const { slug } = await deps.github.self();
  const answer = await askAll<Comment & { body?: string; user: { login: string } | null }>(
    client,
    'the comments could not be read',
    signal,
    client.rest.issues.listComments,
    { owner, repo, issue_number: comment.issue },
  );
  if (answer.refused !== null) return answer;
  const marker = markerOf(comment.key);
  // Anybody can write a marker: only our own comments count.
  const ours = answer.data.find(
    ({ body, user }) => user?.login === `${slug}[bot]` && body?.startsWith(marker) === true,
  );
  return { refused: null, data: ours ?? null };
}
