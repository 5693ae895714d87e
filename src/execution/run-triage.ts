import type { Triager } from '../agents/port.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import type { GitHub } from '../github/port.ts';
import type { Task } from '../store/port.ts';
import type { KeepTurns } from './keep-turns.ts';
import { configOf, inSandbox, openMirror, repositoryOf, type WorkspacePorts } from './open-workspace.ts';
import type { Perform } from './perform.ts';

/** A triage: one agent reads an issue beside the code, the repository's labels and its other open issues. */
export function createTriageWork(
  deps: WorkspacePorts & {
    readonly github: Pick<GitHub, 'readLabels' | 'readOpenIssues'>;
    readonly agentOf: (task: Task, name: string) => AgentConfig;
    readonly createTriager: (config: AgentConfig, task: Task) => Triager;
    readonly keepTurns: KeepTurns;
  },
): Perform {
  return async (work, tools) => {
    const { task, subtask, claim } = work;
    const { signal } = tools;
    const triager = deps.createTriager(deps.agentOf(task, subtask.agent), task);
    const repository = repositoryOf(task);
    const wanted = configOf(task).triage.labels;
    const [mirror, all, open] = await Promise.all([
      openMirror(deps, task, signal),
      deps.github.readLabels(repository),
      deps.github.readOpenIssues(repository),
    ]);
    const labels = all.filter(({ name }) =>
      wanted === null ? !name.startsWith('patchfleet:') : wanted.includes(name),
    );
    const source = { mirrorDir: mirror.dir, commit: task.headSha };
    const { triage, turns } = await inSandbox(deps, work, tools, source, (sandbox) =>
      triager.triage({
        taskId: task.id,
        subtaskId: subtask.id,
        attemptId: claim.attemptId,
        row: subtask.matrix,
        contract: task.contract,
        labels,
        others: open.filter(({ number }) => number !== task.number),
        sandbox,
        keeper: deps.keepTurns(work, tools, { sandbox, mirror, base: task.headSha }),
        signal,
        onProgress: tools.alive,
        onLog: tools.log,
      }),
    );
    return { summary: triage.summary, turns, triage };
  };
}
