import type { Timing } from '../config/operator-config.ts';
import type { GitHub, Mirrors } from '../github/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { PublishingDeps } from './ask-github.ts';
import { type CheckRunDeps, checkRunKey, syncCheckRun } from './check-run.ts';
import { publishReaction, publishReply } from './comment.ts';
import { finishTask } from './finish-task.ts';
import type { PlanBounds } from './plan-bounds.ts';
import type { Publisher } from './port.ts';
import { publishChangeTask } from './publish-change-task.ts';
import { publishCi } from './publish-ci.ts';
import { publishPlan } from './publish-plan.ts';
import { publishTriage } from './publish-triage.ts';
import { readSection } from './read-sections.ts';
import { renderTaskReply } from './render-reply.ts';
import { publishReview, type ReviewDeps } from './review.ts';

export interface PublisherOptions {
  readonly store: Store;
  readonly github: GitHub;
  readonly mirrors: Mirrors;
  readonly queue: Queue;
  readonly timing: Pick<Timing, 'check_update_ms'>;
  readonly planBounds: PlanBounds;
  readonly log: Logger;
  /** Milliseconds since the epoch. Default the clock. */
  readonly now?: () => number;
}

/**
 * Publishing over GitHub. Fails with `github_unavailable` where another try may help; what GitHub refuses for good is
 * recorded in its row and does not stop the rest. A task is finished last, so that a publish that was killed is
 * always taken up again.
 */
export function createPublisher(options: PublisherOptions): Publisher {
  const { timing, now = Date.now, ...shared } = options;
  const deps = { ...shared, updateMs: timing.check_update_ms, now };
  return {
    publish: async (taskId, signal) => {
      const view = await deps.store.views.task(taskId);
      if (view === null) return;
      if (view.task.planOnly) return publishPlan(deps, view, signal);
      switch (view.task.kind) {
        case 'review':
          return publishReviewTask(deps, view, signal);
        case 'triage':
          return publishTriage(deps, view, signal);
        case 'fix':
        case 'batch':
        case 'campaign':
          return publishChangeTask(deps, view, signal);
      }
    },
    react: (repository, commentId, content) => publishReaction(deps, repository, commentId, content),
    reply: (repository, issue, commentId, body) =>
      publishReply(deps, { repository, issue, commentId, body, taskId: null }),
    reportCi: (taskId, report) => publishCi(deps, taskId, report),
  };
}

/**
 * Order matters: the check run exists before all else; the conclusion follows the review, so that a publish that
 * was killed is always taken up again; `finish` is last.
 */
async function publishReviewTask(
  deps: CheckRunDeps & ReviewDeps,
  view: TaskView,
  signal: AbortSignal,
): Promise<void> {
  const { task } = view;
  if (task.outcome === null) {
    await syncCheckRun(deps, task, 'progress', signal);
    await replyToCommand(deps, view, signal);
    return;
  }
  await syncCheckRun(deps, task, 'ensure', signal);
  await publishReview(deps, view, signal);
  await syncCheckRun(deps, task, 'final', signal);
  await replyToCommand(deps, view, signal);
  await finishTask(deps, task);
}

/** One comment per command, updated when its task begins and when it is over; the check run has the progress. */
async function replyToCommand(deps: PublishingDeps, view: TaskView, signal: AbortSignal): Promise<void> {
  const { task } = view;
  const { commentId } = task.trigger;
  if (task.trigger.kind !== 'command' || commentId === null) return;
  const check = await deps.store.publications.get(checkRunKey(task));
  const section = await readSection(deps.store, view);
  const { installationId, repositoryId: id, owner, repo: name } = task;
  await publishReply(
    deps,
    {
      repository: { installationId, id, owner, name },
      issue: task.number,
      commentId,
      body: renderTaskReply(section, check?.url ?? null),
      taskId: task.id,
    },
    signal,
  );
}
