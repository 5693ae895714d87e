import type { Fixer } from '../agents/port.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { Mirror } from '../github/port.ts';
import type { CheckedPatch, Merging, VerificationContext } from '../merging/port.ts';
import type { HarvestEntry } from '../sandbox/port.ts';
import type { ArtifactStore } from '../store/port/artifacts.ts';
import type { Store, Task } from '../store/port.ts';
import type { KeepTurns } from './keep-turns.ts';
import {
  configOf,
  inSandbox,
  kindRequestOf,
  openMirror,
  setupMs,
  type WorkspacePorts,
} from './open-workspace.ts';
import type { AttemptTools, Perform, Work } from './perform.ts';
import type { FixPlace, Reuse } from './reuse-results.ts';

export interface FixDependencies extends WorkspacePorts {
  readonly store: Pick<Store, 'views' | 'graphs' | 'checkpoints'>;
  readonly artifacts: ArtifactStore;
  readonly merging: Merging;
  readonly agentOf: (task: Task, name: string) => AgentConfig;
  readonly createFixer: (config: AgentConfig, task: Task) => Fixer;
  readonly keepTurns: KeepTurns;
  readonly reuse: Reuse;
}

/** A row of a fix: one agent changes files within its scope; what it left is judged, verified and kept as a patch. */
export function createFixWork(deps: FixDependencies): Perform {
  const { reuse } = deps;
  return async (work, tools) => {
    const { task, subtask, claim } = work;
    const agent = deps.agentOf(task, subtask.agent);
    const fixer = deps.createFixer(agent, task);
    const place = await findPlace(deps, work, tools);
    const check = (harvest: readonly HarvestEntry[]) => judge(deps, work, tools, place, harvest);

    const keys = await reuse.keysOf(work, place, agent);
    // What was told to do otherwise does not do the same again.
    const fresh = keys !== null && subtask.feedback === '';
    const taken = fresh ? await reuse.take(work, keys, place, tools, check) : null;
    if (taken !== null) {
      await deps.store.checkpoints.clear(claim);
      return { summary: taken.summary, turns: 0, ...(await asResult(deps, tools, taken.checked)) };
    }
    const startingPoint = fresh ? await reuse.startingPoint(work, keys) : '';
    const source = { mirrorDir: place.mirror.dir, commit: place.base };
    const { report, checked } = await inSandbox(deps, work, tools, source, async (sandbox) => {
      const fixed = await fixer.fix({
        taskId: task.id,
        subtaskId: subtask.id,
        attemptId: claim.attemptId,
        row: subtask.matrix,
        contract: task.contract,
        checks: place.checks,
        feedback: subtask.feedback,
        startingPoint,
        sandbox,
        keeper: deps.keepTurns(work, tools, { sandbox, ...place }),
        signal: tools.signal,
        onProgress: tools.alive,
        onLog: tools.log,
      });
      // What it left is read from the workspace, which lives as long as the sandbox is open.
      const harvest = await sandbox.harvest(tools.signal);
      return { report: fixed, checked: await check(harvest) };
    });
    if (checked === null) return report;
    const result = await asResult(deps, tools, checked);
    const { entries, digest } = result.patch;
    if (keys !== null) await reuse.keep(work, keys, { entries, digest, summary: report.summary });
    return { ...report, ...result };
  };
}

/** The commit the row works on, and what checks it. */
async function findPlace(
  { merging, store, ...ports }: FixDependencies,
  { task, subtask }: Work,
  tools: AttemptTools,
): Promise<FixPlace> {
  const { signal } = tools;
  const mirror = await openMirror(ports, task, signal);
  const start = await startOf(mirror, task, subtask.base, tools);
  const ancestors = await store.graphs.ancestors(subtask.id);
  const view = ancestors.length === 0 ? null : await store.views.task(task.id);
  const base =
    view === null ? start : await merging.baseOf({ mirror, view, row: subtask, start, ancestors, signal });
  return { mirror, base, checks: await merging.checksOf(mirror, base, configOf(task)) };
}

/** The commit that a re-run stands on. One that this worker does not have, and GitHub neither, gives way to the head. */
async function startOf(
  mirror: Mirror,
  task: Task,
  base: string | null,
  { signal, log }: AttemptTools,
): Promise<string> {
  if (base === null || (await mirror.has(base))) return base ?? task.headSha;
  try {
    await mirror.fetchCommit(base, task.targetRef, signal);
    return base;
  } catch (thrown) {
    if (!(thrown instanceof PatchfleetError) || thrown.code !== 'commit_missing') throw thrown;
    log(JSON.stringify({ type: 'base', missing: base, instead: task.headSha }));
    return task.headSha;
  }
}

function judge(
  { merging }: FixDependencies,
  work: Work,
  tools: AttemptTools,
  { mirror, base, checks }: FixPlace,
  harvest: readonly HarvestEntry[],
): Promise<CheckedPatch | null> {
  const { task, subtask } = work;
  const config = configOf(task);
  tools.alive();
  // The agent has done what its limit is for; a long test suite must not cost its work.
  tools.extend(verificationMs(checks.length, config.verify.seconds * 1000) + setupMs(config));
  return merging.checkPatch({
    mirror,
    base,
    harvest,
    writes: subtask.matrix.writes,
    config,
    message: subtask.title,
    context: verificationContext(work, tools, mirror.dir, checks),
  });
}

async function asResult({ artifacts }: FixDependencies, tools: AttemptTools, checked: CheckedPatch) {
  const { patch, verdict, text } = checked;
  const artifact = await artifacts.put('patch.diff', text, 'text/x-diff');
  tools.log(JSON.stringify({ type: 'verified', verdict, entries: patch.entries.map(({ path }) => path) }));
  const { baseCommit, tree, commit, entries } = patch;
  return {
    artifacts: [artifact],
    patch: { baseCommit, tree, commit, entries: [...entries], digest: artifact.digest, verdict },
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
  { task, subtask, claim }: Work,
  tools: AttemptTools,
  mirrorDir: string,
  commands: VerificationContext['commands'],
): VerificationContext {
  return {
    taskId: task.id,
    attemptId: claim.attemptId,
    repository: { id: task.repositoryId, mirrorDir },
    kind: kindRequestOf(task, { mirrorDir, commit: task.headSha }, 'check', subtask.memoryMib),
    commands,
    commandMs: configOf(task).verify.seconds * 1000,
    signal: tools.signal,
    onProgress: tools.alive,
  };
}
