import type { RepositoryConfig } from '../config/repository-config.ts';
import type { Failure } from '../domain/failure.ts';
import type { Trigger } from '../domain/task.ts';
import type { PullRequestNow } from '../github/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store, Task } from '../store/port.ts';
import { askForNext, priorities } from './start-task.ts';

/**
 * Makes the review task of the pull request's current head, unless that trigger already made it, and asks for
 * what follows: its plan and its check run, and the check runs of the reviews it supersedes.
 */
export async function openReview(
  ports: { store: Pick<Store, 'tasks'>; queue: Queue },
  pull: PullRequestNow,
  trigger: Trigger,
  file: { config: RepositoryConfig | null; failure: Failure | null },
): Promise<{ task: Task; created: boolean }> {
  const { store, queue } = ports;
  const { repository } = pull;
  const priority = trigger.kind === 'command' ? priorities.request : priorities.event;
  const create = (key: string) =>
    store.tasks.create({
      kind: 'review',
      key,
      installationId: repository.installationId,
      repositoryId: repository.id,
      owner: repository.owner,
      repo: repository.name,
      number: pull.number,
      headSha: pull.headSha,
      baseSha: pull.baseSha,
      baseRef: pull.baseRef,
      title: pull.title,
      body: pull.body,
      trigger,
      config: file.config,
      priority,
      failure: file.failure,
    });

  const head = `review:${repository.id}:${pull.number}:${pull.headSha}`;
  const key = trigger.commentId === null ? head : `${head}:${trigger.commentId}`;
  let result = await create(key);
  // The head came back (a force-push undone) after its review was superseded: that one no longer counts.
  while (trigger.commentId === null && !result.created && result.task.outcome === 'superseded') {
    result = await create(`${head}:after:${result.task.id}`);
  }
  const { task, created, superseded } = result;
  await askForNext(ports, task);
  for (const id of superseded) await queue.enqueue('publish', id);
  return { task, created };
}
