import { type Candidate, type LeftOut, reportCode } from '../domain/candidate.ts';
import { protectionBy } from '../domain/protection.ts';
import type { Mirror } from '../github/port.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Subtask } from '../store/port.ts';
import { ensurePatches } from './ensure-patches.ts';
import { openGround } from './ground.ts';
import type { Integrator } from './integrate.ts';
import { mergePatches } from './merge-patches.ts';
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
    const onStep = () => signal.throwIfAborted();
    const ground = await openGround({ mirror, target: headSha, patches, onStep });
    const { tree } = await mergePatches(ground, patches);
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
  const made = new Map(rows.flatMap((row) => (row.status === 'succeeded' ? [[row.id, row] as const] : [])));
  const patches = view.patches
    .flatMap((patch) => {
      const row = made.get(patch.subtaskId);
      return row === undefined ? [] : [{ ...patch, row: row.row, title: row.title }];
    })
    .sort((a, b) => a.row - b.row);
  const placed = await ensurePatches({ mirror, readArtifact, anchor: view.task.headSha, signal }, patches);
  return patches.map(({ subtaskId, row, title, entries, baseCommit, tree }, at) => ({
    ...{ subtaskId, row, title, entries },
    baseCommit: placed[at]?.base ?? baseCommit,
    tree: placed[at]?.tree ?? tree,
  }));
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
  // The rows that took the place of one that was split speak for it.
  if (status === 'succeeded' || status === 'split') return [];
  const code = failure?.code ?? 'internal';
  const reason = failure?.detail ?? `it is ${status}`;
  return [{ subtaskId: id, row, code: reportCode(code), reason, against: null }];
}
