import type { FileChange } from '../domain/change.ts';
import type { Mirrors } from '../github/port.ts';
import type { Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';

/** Size of a diff that anchors are still looked up in, bytes. */
const maxDiffBytes = 64 * 1024 * 1024;

/**
 * The changes of those files in the diff that the task reviewed. Null where they cannot be had: a review with all
 * findings in its body is better than none.
 */
export async function readChanges(
  mirrors: Mirrors,
  log: Logger,
  task: Task,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly FileChange[] | null> {
  if (task.mergeBase === null) return null;
  try {
    const { installationId, repositoryId: id, owner, repo: name } = task;
    const mirror = await mirrors.open({ installationId, id, owner, name });
    // This replica may never have seen the pull request.
    if (!(await mirror.has(task.headSha)) || !(await mirror.has(task.mergeBase))) {
      await mirror.fetchPullRequest(task.number, task.headSha, task.baseSha, signal);
    }
    const options = { maxBytes: maxDiffBytes, paths, signal };
    return (await mirror.changes(task.mergeBase, task.headSha, options)).changes;
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, task: task.id }, 'no diff to anchor findings in');
    return null;
  }
}
