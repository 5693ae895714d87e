import type { RepositoryRef } from '../domain/task.ts';
import { ask, type PublishingDeps } from './ask-github.ts';
import { publishComment } from './write-comment.ts';

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
  const { commentId, ...comment } = reply;
  await publishComment(deps, { ...comment, key: replyKey(commentId) }, signal);
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
