import { type Candidate, type LeftOut, reportCode } from '../domain/candidate.ts';
import { protectionBy } from '../domain/protection.ts';
import type { Mirror } from '../github/port.ts';
import type { Subtask, TaskView } from '../store/port.ts';
import { ensurePatchCommit } from './ensure-patch-commit.ts';
import type { Integrator } from './integrate.ts';
import { createMerge, mergePatches } from './merge-patches.ts';
import type { BaseRequest, IntegrateRowsRequest, MergePatch } from './port.ts';

/** The artifact of that digest; null where it is lost. */
type ReadArtifact = (digest: string) => Promise<Uint8Array | null>;

/** Integrates what the rows of a task (of one issue, in a batch with a pull request each) have made. */
export function createRowIntegrator(deps: {
  readonly integrator: Integrator;
  readonly readArtifact: ReadArtifact;
}): (request: IntegrateRowsRequest) => Promise<Candidate> {
  return async ({ mirror, view, row, config, context }) => {
    const { task } = view;
    const rows = rowsBefore(view, row);
    const patches = await patchesOf(deps.readArtifact, mirror, view, rows, context.signal);
    const titles = new Map(rows.map(({ row: number, title }) => [number, title]));
    const candidate = await deps.integrator.integrate({
      mirror,
      targetRef: task.targetRef,
      ...(task.fork ? { pull: task.number } : {}),
      patches,
      failedRows: rows.flatMap(failed),
      onPartial: config.fix.on_partial,
      protection: protectionBy(config.verify.protected),
      namedBy: (number) => rows.find((other) => other.row === number)?.matrix.writes ?? [],
      message: (merged) => merged.map((number) => titles.get(number) ?? '').join('\n'),
      context,
    });
    return { ...candidate, checks: context.commands.map(({ name }) => name) };
  };
}

/** The commit a row works on; see `Merging.baseOf`. A patch in conflict with an earlier one is not in it. */
export function createBaseFinder(readArtifact: ReadArtifact): (request: BaseRequest) => Promise<string> {
  return async ({ mirror, view, row, start, ancestors, signal }) => {
    const headSha = start ?? view.task.headSha;
    const rows = rowsBeneath(view, row, ancestors);
    const patches = await patchesOf(readArtifact, mirror, view, rows, signal);
    if (patches.length === 0) return headSha;
    const { tree } = await mergePatches(createMerge(mirror), await mirror.treeOf(headSha), patches);
    return mirror.commitTree(tree, [headSha], 'The head with what this row builds on');
  };
}

async function patchesOf(
  readArtifact: ReadArtifact,
  mirror: Mirror,
  view: TaskView,
  rows: readonly Subtask[],
  signal: AbortSignal,
): Promise<MergePatch[]> {
  const patches: MergePatch[] = [];
  for (const patch of view.patches) {
    const made = rows.find(({ id, status }) => id === patch.subtaskId && status === 'succeeded');
    if (made === undefined) continue;
    // The base may itself be a commit of ours; then the patch is taken as it is, or made anew.
    const commit = await ensurePatchCommit({ mirror, readArtifact }, patch);
    signal.throwIfAborted();
    const { id: subtaskId, row, title } = made;
    patches.push({ subtaskId, row, title, commit, baseCommit: patch.baseCommit });
  }
  return patches;
}

/** The agents' rows whose work this one integrates. */
export function rowsBefore({ subtasks }: TaskView, row: Subtask): Subtask[] {
  return subtasks.filter(
    ({ kind, issue }) => kind === 'agent' && (row.issue === null || issue === row.issue),
  );
}

/**
 * The rows whose work this one builds upon: those it waits for, as far as they go into the same pull request. Where
 * each issue has its own, what another issue did is no base for it: it would bring that along, or not merge without.
 */
export function rowsBeneath(
  { subtasks }: TaskView,
  row: Pick<Subtask, 'issue'>,
  ancestors: readonly string[],
): Subtask[] {
  const apart = subtasks.some(({ kind, issue }) => kind === 'integrate' && issue !== null);
  return subtasks.filter(({ id, issue }) => ancestors.includes(id) && (!apart || issue === row.issue));
}

function failed({ id, row, status, failure }: Subtask): LeftOut[] {
  if (status === 'succeeded') return [];
  const code = failure?.code ?? 'internal';
  return [{ subtaskId: id, row, code: reportCode(code), reason: failure?.detail ?? `it is ${status}` }];
}
