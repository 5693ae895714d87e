import type { Agent } from '../agents/port.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits } from '../config/operator-config.ts';
import { changesOf } from '../domain/change.ts';
import type { Task } from '../store/port.ts';
import type { KeepTurns } from './keep-turns.ts';
import { inSandbox, openMirror, type WorkspacePorts } from './open-workspace.ts';
import type { Perform } from './perform.ts';

/** A row of a review: one agent over its shard of the change. */
export function createReviewWork(
  deps: WorkspacePorts & {
    /** Fails with `config_invalid` when it is no longer configured. */
    readonly agentOf: (task: Task, name: string) => AgentConfig;
    readonly createAgent: (config: AgentConfig, task: Task) => Agent;
    readonly limits: Limits;
    readonly keepTurns: KeepTurns;
  },
): Perform {
  return async (work, tools) => {
    const { task, subtask, claim } = work;
    const { signal } = tools;
    const agent = deps.createAgent(deps.agentOf(task, subtask.agent), task);
    const mirror = await openMirror(deps, task, signal);
    const { inputs } = subtask.matrix;
    const { changes } = await mirror.changes(task.mergeBase ?? task.baseSha, task.headSha, {
      maxBytes: deps.limits.diff_mib * 1024 * 1024,
      paths: inputs,
      signal,
    });
    const source = { mirrorDir: mirror.dir, commit: task.headSha };
    return inSandbox(deps, work, tools, source, (sandbox) =>
      agent.review({
        taskId: task.id,
        subtaskId: subtask.id,
        attemptId: claim.attemptId,
        row: subtask.matrix,
        contract: task.contract,
        changes: changesOf(inputs, changes),
        sandbox,
        keeper: deps.keepTurns(work, tools, { sandbox, mirror, base: task.headSha }),
        signal,
        onProgress: tools.alive,
        onLog: tools.log,
      }),
    );
  };
}
