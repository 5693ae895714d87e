import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient } from '../github/port.ts';
import { type Answer, ask, askAll, type PublishingDeps } from './ask-github.ts';
import { contentFingerprint } from './content-fingerprint.ts';
import { renderReply, replyMarker } from './render-reply.ts';

export interface Reply {
  readonly repository: RepositoryRef;
  readonly issue: number;
  /** The comment that holds the command. */
  readonly commentId: number;
  /** Markdown; what comes from outside in it is defused already. */
  readonly body: string;
  readonly taskId: string | null;
}

export function replyKey(commentId: number): string {
  return `reply:${commentId}`;
}

/** Creates the one comment that answers a command, or updates it. A refusal is recorded, not thrown. */
export async function publishReply(deps: PublishingDeps, reply: Reply, signal?: AbortSignal): Promise<void> {
  const { publications } = deps.store;
  const key = replyKey(reply.commentId);
  await deps.store.withLock(`publish:${key}`, async () => {
    const body = renderReply(reply.commentId, reply.body);
    const fingerprint = contentFingerprint(body);
    const row = await publications.get(key);
    if (row?.status === 'failed' || (row?.status === 'done' && row.fingerprint === fingerprint)) return;
    const client = await deps.github.client(reply.repository.installationId);
    const before = await publications.begin(key, 'comment', reply.taskId);
    const answer = await send(
      deps,
      client,
      reply,
      body,
      before.githubId,
      before.status !== 'pending',
      signal,
    );
    if (answer.refused === null) {
      const { id, html_url: url } = answer.data;
      await publications.done(key, { githubId: id, url, fingerprint });
      return;
    }
    // A comment that somebody deleted is not wanted; a locked conversation stays as it is.
    const { status, detail } = answer.refused;
    deps.log.warn({ key, status, detail }, 'comment refused');
    await publications.fail(key, { code: 'github_refused', detail });
  });
}

type Comment = { readonly id: number; readonly html_url: string };

async function send(
  deps: PublishingDeps,
  client: InstallationClient,
  reply: Reply,
  body: string,
  knownId: number | null,
  doubt: boolean,
  signal: AbortSignal | undefined,
): Promise<Answer<Comment>> {
  const { owner, name: repo } = reply.repository;
  const target = { owner, repo, ...(signal === undefined ? {} : { request: { signal } }) };
  let id = knownId;
  if (id === null && doubt) {
    const found = await findReply(deps, client, reply, signal);
    if (found.refused !== null) return found;
    if (found.data?.body === body) return { refused: null, data: found.data };
    id = found.data?.id ?? null;
  }
  const known = id;
  return ask('the comment could not be written', signal, () =>
    known === null
      ? client.rest.issues.createComment({ ...target, issue_number: reply.issue, body })
      : client.rest.issues.updateComment({ ...target, comment_id: known, body }),
  );
}

async function findReply(
  deps: PublishingDeps,
  client: InstallationClient,
  reply: Reply,
  signal: AbortSignal | undefined,
): Promise<Answer<(Comment & { body?: string }) | null>> {
  const { owner, name: repo } = reply.repository;
  const { slug } = await deps.github.self();
  const answer = await askAll<Comment & { body?: string; user: { login: string } | null }>(
    client,
    'the comments could not be read',
    signal,
    client.rest.issues.listComments,
    { owner, repo, issue_number: reply.issue },
  );
  if (answer.refused !== null) return answer;
  const marker = replyMarker(reply.commentId);
  const ours = answer.data.find(
    ({ body, user }) => user?.login === `${slug}[bot]` && body?.startsWith(marker) === true,
  );
  return { refused: null, data: ours ?? null };
}

/** GitHub keeps one reaction of a kind per user: sending it again changes nothing there. */
export async function publishReaction(
  deps: PublishingDeps,
  repository: RepositoryRef,
  commentId: number,
  content: 'eyes' | 'confused',
): Promise<void> {
  const { publications } = deps.store;
  const key = `reaction:${commentId}`;
  await deps.store.withLock(`publish:${key}`, async () => {
    const row = await publications.get(key);
    if (row?.status === 'failed' || (row?.status === 'done' && row.fingerprint === content)) return;
    const client = await deps.github.client(repository.installationId);
    await publications.begin(key, 'reaction', null);
    const answer = await ask('the reaction could not be added', undefined, () =>
      client.rest.reactions.createForIssueComment({
        owner: repository.owner,
        repo: repository.name,
        comment_id: commentId,
        content,
      }),
    );
    if (answer.refused === null) {
      await publications.done(key, { githubId: answer.data.id, fingerprint: content });
      return;
    }
    deps.log.warn({ key, status: answer.refused.status, detail: answer.refused.detail }, 'reaction refused');
    await publications.fail(key, { code: 'github_refused', detail: answer.refused.detail });
  });
}
