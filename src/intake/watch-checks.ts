import type { PullRequestNow } from '../github/port.ts';
import type { Task } from '../store/port.ts';
import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { columnsOf } from './read-subject.ts';
import { priorities, startTask } from './start-task.ts';
import type { TriggerOf } from './trigger-decision.ts';

const repairKey = 'repair:';

/** Checks that fail on a pull request of ours are told there, and repaired once. */
export async function watchChecks(at: Admitting, trigger: TriggerOf<'checks_failed'>): Promise<Settlement> {
  const { github, store, publisher } = at;
  const { repository, taskId, branch, headSha } = trigger;
  const task = await store.tasks.get(taskId);
  if (task === null || task.repositoryId !== repository.id) return ignoredFor('no task has that branch');
  const number = await github.pullOfBranch(repository, branch);
  if (number === null) return ignoredFor('no open pull request has that branch');
  const pull = await github.readPullRequest(repository, number);
  if (typeof pull === 'string') return ignoredFor(pull);
  if (!pull.open || pull.fork || pull.headRef !== branch)
    return ignoredFor('the pull request changed meanwhile');
  if (pull.headSha !== headSha) return ignoredFor('the checks are of an older head');
  const { failing, pending } = await github.readChecks(pull.repository, headSha);
  if (failing.length === 0) return ignoredFor('no check fails any more');
  await publisher.reportCi(taskId, { pull: number, headSha, failing });
  if (task.key.startsWith(repairKey)) return { status: 'admitted', reason: 'a repair is not repaired' };
  // The end of the whole suite follows, or the end of the last check.
  if (pending && !trigger.isSuite) return { status: 'admitted', reason: 'other checks have not ended' };
  return await repair(at, task, pull, failing);
}

async function repair(
  at: Admitting,
  task: Task,
  pull: PullRequestNow,
  failing: readonly string[],
): Promise<Settlement> {
  const file = await readRepositoryFile(at.github, pull, at.operatorConfig);
  if (file.config?.fix.enabled === false) return { status: 'admitted', reason: 'fix.enabled is false' };
  const { repository, number, title, body, headSha, baseSha, baseRef, headRef } = pull;
  const several = headRef.endsWith(task.id) ? '' : `:${headRef.split(task.id)[1]}`;
  const names = failing.map((name) => `- ${name.replace(/\s+/g, ' ')}`).join('\n');
  await startTask(at, {
    kind: 'fix',
    key: `${repairKey}${task.id}${several}`,
    ...columnsOf({ repository, headSha, baseSha, baseRef, targetRef: headRef, fork: false }),
    subject: 'pull_request',
    number,
    title,
    body,
    instruction:
      `These checks of pull request #${number} fail. Make them pass without weakening them:\n${names}`.slice(
        0,
        20_000,
      ),
    trigger: {
      kind: 'pull_request',
      name: 'checks_failed',
      actor: 'patchfleet',
      deliveryId: at.delivery.id,
      commentId: null,
    },
    config: file.config,
    priority: priorities.event,
    failure: file.failure,
  });
  return admitted;
}
