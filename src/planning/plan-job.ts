import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits } from '../config/operator-config.ts';
import { repositoryConfigPath } from '../config/repository-config.ts';
import { selectAgents } from '../config/select-agents.ts';
import { failureKinds, PatchfleetError, toFailure } from '../domain/failure.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Planner } from './plan-task.ts';

/** Further tries of planning after a transient failure. */
const planRetries = 3;

/** Plans a task and stores its rows; what cannot be planned becomes a failed task that says why. */
export function createPlanJob(deps: {
  store: Pick<Store, 'tasks'>;
  queue: Queue;
  planner: Planner;
  agents: readonly AgentConfig[];
  limits: Limits;
  log: Logger;
}): (taskId: string, signal: AbortSignal) => Promise<void> {
  const { store, queue, log } = deps;
  return async (taskId, signal) => {
    const tries = await store.tasks.beginPlanning(taskId);
    const task = tries === null ? null : await store.tasks.get(taskId);
    if (tries === null || task === null) return;
    const { priority } = task;
    try {
      await planAndStore(deps, task, signal);
    } catch (error) {
      // A replica that shuts down leaves the task as it is: another one plans it.
      if (signal.aborted) throw error;
      const failure = toFailure(error);
      log.warn({ err: error, task: taskId, tries }, 'planning failed');
      if (failureKinds[failure.code].class === 'transient' && tries <= planRetries) throw error;
      await store.tasks.settle(taskId, 'failed', failure);
    }
    await queue.enqueue('advance', taskId, { priority });
    await queue.enqueue('publish', taskId, { priority });
  };
}

async function planAndStore(
  deps: Parameters<typeof createPlanJob>[0],
  task: Task,
  signal: AbortSignal,
): Promise<void> {
  if (task.config === null) throw new PatchfleetError('internal', 'the task has no repository configuration');
  const agents = selectAgents(deps.agents, task.config);
  if (agents.length === 0)
    throw new PatchfleetError(
      'config_invalid',
      `no agent is configured; name one under \`agents\` in the operator file or under \`commands\` in ${repositoryConfigPath}`,
    );
  const { plan, skipped, mergeBase, coverage } = await deps.planner.plan(
    {
      repository: {
        installationId: task.installationId,
        id: task.repositoryId,
        owner: task.owner,
        name: task.repo,
      },
      pullRequest: {
        number: task.number,
        headSha: task.headSha,
        baseSha: task.baseSha,
        baseRef: task.baseRef,
        title: task.title,
        body: task.body,
      },
      config: task.config,
      agents,
      limits: deps.limits,
    },
    signal,
  );
  const facts = { mergeBase, skipped, filesChanged: coverage.changedFiles };
  if (await deps.store.tasks.storePlan(task.id, plan, facts))
    deps.log.info({ task: task.id, rows: plan.rows.length, files: facts.filesChanged }, 'task planned');
}
