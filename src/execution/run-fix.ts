import type { Fixer } from '../agents/port.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import type { Merging, VerificationContext } from '../merging/port.ts';
import type { ArtifactStore, Store, Task } from '../store/port.ts';
import type { KeepTurns } from './keep-turns.ts';
import { configOf, inSandbox, openMirror, type WorkspacePorts } from './open-workspace.ts';
import type { AttemptTools, Perform, Work } from './perform.ts';

/** A row of a fix: one agent changes files within its scope; what it left is judged, verified and kept as a patch. */
export function createFixWork(
  deps: WorkspacePorts & {
    readonly store: Pick<Store, 'views' | 'graphs'>;
    readonly artifacts: ArtifactStore;
    readonly merging: Merging;
    readonly agentOf: (task: Task, name: string) => AgentConfig;
    readonly createFixer: (config: AgentConfig, task: Task) => Fixer;
    readonly keepTurns: KeepTurns;
  },
): Perform {
  return async (work, tools) => {
    const { task, subtask, claim } = work;
    const { signal } = tools;
    const { merging } = deps;
    const config = configOf(task);
    const fixer = deps.createFixer(deps.agentOf(task, subtask.agent), task);
    const mirror = await openMirror(deps, task, signal);
    const ancestors = await deps.store.graphs.ancestors(subtask.id);
    const view = ancestors.length === 0 ? null : await deps.store.views.task(task.id);
    const base =
      view === null ? task.headSha : await merging.baseOf({ mirror, view, row: subtask, ancestors, signal });
    const checks = await merging.checksOf(mirror, base, config);
    const source = { mirrorDir: mirror.dir, commit: base };
    const { report, checked } = await inSandbox(deps, work, tools, source, async (sandbox) => {
      const fixed = await fixer.fix({
        taskId: task.id,
        subtaskId: subtask.id,
        attemptId: claim.attemptId,
        row: subtask.matrix,
        contract: task.contract,
        checks,
        feedback: subtask.feedback,
        startingPoint: '',
        sandbox,
        keeper: deps.keepTurns(work, tools, { sandbox, mirror, base }),
        signal,
        onProgress: tools.alive,
        onLog: tools.log,
      });
      // What it left is read from the workspace, which lives as long as the sandbox is open.
      const harvest = await sandbox.harvest(signal);
      tools.alive();
      // The agent has done what its limit is for; a long test suite must not cost its work.
      tools.extend(verificationMs(checks.length, config.verify.seconds * 1000));
      const patch = await merging.checkPatch({
        mirror,
        base,
        harvest,
        writes: subtask.matrix.writes,
        config,
        message: subtask.title,
        context: verificationContext(work, tools, mirror.dir, checks),
      });
      return { report: fixed, checked: patch };
    });
    if (checked === null) return report;
    const { patch, verdict, text } = checked;
    const artifact = await deps.artifacts.put('patch.diff', text, 'text/x-diff');
    tools.log(JSON.stringify({ type: 'verified', verdict, entries: patch.entries.map(({ path }) => path) }));
    const { baseCommit, tree, commit, entries } = patch;
    return {
      ...report,
      artifacts: [artifact],
      patch: { baseCommit, tree, commit, entries: [...entries], digest: artifact.digest, verdict },
    };
  };
}

/** Runs of the checks that judging a patch takes at most: of it, of its base, and of it again. */
const judgingRuns = 3;
/** Starting and removing a sandbox around each, ms. */
const aroundRun = 90_000;

function verificationMs(commands: number, commandMs: number): number {
  return commands === 0 ? 0 : judgingRuns * (commands * commandMs + aroundRun);
}

/** Verification is silent for long and has limits of its own: every sign of it keeps the attempt alive. */
export function verificationContext(
  { task, claim }: Work,
  tools: AttemptTools,
  mirrorDir: string,
  commands: VerificationContext['commands'],
): VerificationContext {
  return {
    taskId: task.id,
    attemptId: claim.attemptId,
    repository: { id: task.repositoryId, mirrorDir },
    commands,
    commandMs: configOf(task).verify.seconds * 1000,
    signal: tools.signal,
    onProgress: tools.alive,
  };
}
