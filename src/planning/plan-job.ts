import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits } from '../config/operator-config.ts';
import { repositoryConfigPath } from '../config/repository-config.ts';
import { fallbacksOf, selectAgents } from '../config/select-agents.ts';
import { failureKinds, PatchfleetError, toFailure } from '../domain/failure.ts';
import type { MemoryBounds } from '../domain/sandbox-estimate.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { ChangePlanner } from './plan-change.ts';
import type { PlannedTask, Planner } from './plan-task.ts';
import { sizeRows } from './size-rows.ts';

/** Further tries of planning after a transient failure. */
const planRetries = 3;
/** Times planning may begin, those included that ended with the death or the shutdown of their worker. */
const mostPlans = 12;

export interface PlanJobDependencies {
  readonly store: Pick<Store, 'tasks' | 'verifications'>;
  readonly queue: Queue;
  /** For reviews. */
  readonly planner: Planner;
  /** For everything else. */
  readonly changePlanner: ChangePlanner;
  readonly agents: readonly AgentConfig[];
  readonly limits: Limits;
  /** Of a sandbox. */
  readonly memory: MemoryBounds;
  /** Has the sandboxes of a task started ahead; see execution/start-ahead.ts. */
  readonly startAhead: {
    readonly whilePlanning: (task: Task) => () => void;
    readonly changed: (task: Task) => void;
  };
  readonly log: Logger;
}

/** Plans a task and stores its rows; what cannot be planned becomes a failed task that says why. */
export function createPlanJob(
  deps: PlanJobDependencies,
): (taskId: string, signal: AbortSignal) => Promise<void> {
  const { store, queue, log } = deps;
  return async (taskId, signal) => {
    // A batch is planned the moment it is complete, not when the reconciler next looks.
    await store.tasks.releaseDue();
    const tries = await store.tasks.beginPlanning(taskId);
    const task = tries === null ? null : await store.tasks.get(taskId);
    if (tries === null || task === null) return;
    const { priority } = task;
    try {
      if (tries > mostPlans)
        throw new PatchfleetError(
          'plan_invalid',
          `planning began ${tries - 1} times and never came to an end`,
        );
      await planAndStore(deps, task, signal);
    } catch (error) {
      // A replica that shuts down leaves the task as it is: another one plans it.
      if (signal.aborted) throw error;
      const failure = toFailure(error);
      log.warn({ err: error, task: taskId, tries }, 'planning failed');
      if (failureKinds[failure.code].class === 'transient' && tries <= planRetries) throw error;
      await store.tasks.settle(taskId, 'failed', failure);
    }
    deps.startAhead.changed(task);
    await queue.enqueue('advance', taskId, { priority });
    await queue.enqueue('publish', taskId, { priority });
  };
}

async function planAndStore(deps: PlanJobDependencies, task: Task, signal: AbortSignal): Promise<void> {
  const { plan: made, skipped, mergeBase, coverage, tree } = await planAhead(deps, task, signal);
  const peaksMib = await deps.store.verifications.peaks(task.repositoryId);
  const rows = sizeRows(made.rows, task.kind, { tree, peaksMib }, deps.memory).map((row) => ({
    ...row,
    fallbacks: fallbacksOf(deps.agents, task.config, row.agent, task.kind !== 'review'),
  }));
  const plan = { ...made, rows };
  const facts = { mergeBase, skipped, filesChanged: coverage.changedFiles };
  if (await deps.store.tasks.storePlan(task.id, plan, facts))
    deps.log.info({ task: task.id, rows: plan.rows.length, files: facts.filesChanged }, 'task planned');
}

/** The same as {@link makePlan}, with sandboxes that start meanwhile. */
async function planAhead(deps: PlanJobDependencies, task: Task, signal: AbortSignal): Promise<PlannedTask> {
  const planned = deps.startAhead.whilePlanning(task);
  try {
    return await makePlan(deps, task, signal);
  } finally {
    planned();
  }
}

function makePlan(deps: PlanJobDependencies, task: Task, signal: AbortSignal): Promise<PlannedTask> {
  const { config, kind, title, body, headSha, baseSha, number } = task;
  if (config === null) throw new PatchfleetError('internal', 'the task has no repository configuration');
  const agents = selectAgents(deps.agents, config);
  if (agents.length === 0)
    throw new PatchfleetError(
      'config_invalid',
      `no agent is configured; name one under \`agents\` in the operator file or under \`commands\` in ${repositoryConfigPath}`,
    );
  const common = {
    repository: {
      installationId: task.installationId,
      id: task.repositoryId,
      owner: task.owner,
      name: task.repo,
    },
    config,
    limits: deps.limits,
  };
  if (kind === 'review') {
    const pullRequest = { number, headSha, baseSha, baseRef: task.baseRef, title, body };
    return deps.planner.plan({ ...common, pullRequest, agents }, signal);
  }
  return deps.changePlanner.plan(
    {
      ...common,
      id: task.id,
      kind,
      // `review.agents` narrows reviews alone.
      agents: deps.agents,
      subject: { kind: task.subject, number, title, body },
      headSha,
      baseSha,
      targetRef: task.targetRef,
      instruction: task.instruction,
      issues: task.issues,
    },
    signal,
  );
}
