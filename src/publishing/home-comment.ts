import type { RepositoryRef } from '../domain/task.ts';
import type { Task } from '../store/port.ts';
import type { PublishingDeps } from './ask-github.ts';
import { replyKey } from './comment.ts';
import { publishComment } from './write-comment.ts';

/** Where a task tells how it stands: the answer to its command, else one comment on its issue. */

export interface HomeDeps extends PublishingDeps {
  readonly updateMs: number;
  readonly now: () => number;
}

export function repositoryOf(task: Task): RepositoryRef {
  const { installationId, repositoryId: id, owner, repo: name } = task;
  return { installationId, id, owner, name };
}

/** Null: a task that a push started tells nobody but in its pull request. */
export function homeOf(task: Task): { readonly issue: number; readonly key: string } | null {
  const { kind, commentId } = task.trigger;
  // One comment may ask for a plan and for its fix.
  if (task.planOnly) return { issue: task.number, key: `reply:plan:${commentId ?? task.id}` };
  if (kind === 'command' && commentId !== null) return { issue: task.number, key: replyKey(commentId) };
  const lowest =
    task.issues.length === 0 ? task.number : Math.min(...task.issues.map(({ number }) => number));
  return lowest === 0 ? null : { issue: lowest, key: `reply:task:${task.id}` };
}

/**
 * Brings the comment up to date. `progress` is not shown too often: the queue is asked for a later call, which
 * shows what is the case then.
 */
export async function publishHome(
  deps: HomeDeps,
  task: Task,
  body: string,
  step: 'progress' | 'final',
  signal: AbortSignal,
): Promise<void> {
  const home = homeOf(task);
  if (home === null) return;
  const waitFor = (sentAt: Date) => {
    const left = sentAt.getTime() + deps.updateMs - deps.now();
    // The clocks of database and process may differ: never wait longer than the interval.
    return Math.min(Math.max(0, left), deps.updateMs);
  };
  const comment = { ...home, repository: repositoryOf(task), body, taskId: task.id };
  const wait = await publishComment(deps, step === 'final' ? comment : { ...comment, waitFor }, signal);
  if (wait > 0) await deps.queue.enqueue('publish', task.id, { delayMs: wait, priority: task.priority });
}
