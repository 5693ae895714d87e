import { toFailure } from '../domain/failure.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Publisher } from './port.ts';
import { afterFailedPublish } from './retry-publish.ts';

export interface PublishJobDependencies {
  readonly store: Pick<Store, 'tasks' | 'publications' | 'audit'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly queue: Queue;
  readonly log: Logger;
}

/**
 * Publishes a task, and bounds what happens when that fails: growing pauses, kept in the task's row so that they hold
 * for whoever asks, and an end that is told. Fails only where the signal was aborted or the store does not answer.
 */
export function createPublishJob(
  deps: PublishJobDependencies,
): (taskId: string, signal: AbortSignal) => Promise<void> {
  const { store, publisher } = deps;
  return async (taskId, signal) => {
    const task = await store.tasks.toPublish(taskId);
    // Where it pauses, the reconciler, or whatever changes next, asks again.
    if (task === null) return;
    try {
      await publisher.publish(taskId, signal);
    } catch (error) {
      // A replica that shuts down says nothing about GitHub: another one publishes.
      if (signal.aborted) throw error;
      await countFailure(deps, task, error);
      return;
    }
    if (task.publishTries > 0) await store.tasks.resumePublishing(taskId);
  };
}

async function countFailure(deps: PublishJobDependencies, task: Task, error: unknown): Promise<void> {
  const { store, queue, log } = deps;
  const tries = task.publishTries + 1;
  const next = afterFailedPublish(task.phase, tries);
  log.warn({ err: error, task: task.id, tries }, 'publishing failed');
  if (next.kind === 'leave') return;
  const { priority } = task;
  if (!(await store.tasks.pausePublishing(task, next.pauseMs))) {
    // The task moved on while this was published: what is to be said now was asked for by whoever moved it.
    return;
  }
  if (next.kind === 'pause') {
    await queue.enqueue('publish', task.id, { priority, delayMs: next.pauseMs });
    return;
  }
  await giveUp(deps, task, tries, error);
}

/** Told first, finished last: a kill in between tells it twice rather than never. */
async function giveUp(
  { store, log }: PublishJobDependencies,
  task: Task,
  tries: number,
  error: unknown,
): Promise<void> {
  const failure = toFailure(error);
  const { code, detail } = failure;
  const unpublished = (await store.publications.ofTask(task.id))
    .filter(({ status }) => status !== 'done')
    .map(({ key }) => key);
  const what = `${task.kind} of ${task.owner}/${task.repo}#${task.number}`;
  const reason = `${code}: ${detail}`.slice(0, 2000).toWellFormed();
  await store.audit.record({
    actor: 'patchfleet',
    action: 'publishing.failed',
    subject: task.id,
    detail: { what, outcome: task.outcome, unpublished, tries, reason },
  });
  log.error({ err: error, task: task.id, what, unpublished, tries }, 'publishing was given up');
  await store.tasks.giveUpPublishing(task.id, failure, { outcome: task.outcome, unpublished, tries });
}
