import type { Candidate } from '../domain/candidate.ts';
import type { Failure } from '../domain/failure.ts';
import { isOpen } from '../domain/task.ts';
import type { TaskView } from '../store/port/views.ts';
import type { PatchRow, Publication, Subtask, Task } from '../store/port.ts';
import { standingRows } from './standing-rows.ts';

/** What the rows say of a change: one integration per pull request, and what became of each row in it. Pure. */

export interface Integration {
  /** The integrating subtask. */
  readonly subtask: Subtask;
  /** Null: integrating is not over, or did not succeed. */
  readonly candidate: Candidate | null;
  /** Times a candidate was made. */
  readonly rounds: number;
  /** The rows of agents that it merges. */
  readonly rows: readonly ChangeRow[];
}

/**
 * `ready`: its work waits to be merged. `merged`: in the candidate. `left_out`: its work was refused by merging. `nothing`: it had nothing to change.
 * `withheld`: fine by itself, but the candidate as a whole is not published. `failed`: it gave no work.
 */
export type RowState = 'open' | 'ready' | 'merged' | 'left_out' | 'nothing' | 'withheld' | 'failed';

export interface ChangeRow {
  readonly subtask: Subtask;
  readonly patch: PatchRow | null;
  readonly state: RowState;
  /** Of what was left out or failed: a code of merging (`conflict`, `verification`) or of the table of failures. */
  readonly code: string | null;
  readonly reason: string;
}

export function readIntegrations(view: TaskView): Integration[] {
  const agents = standingRows(view.subtasks).filter((subtask) => subtask.kind === 'agent');
  return view.subtasks
    .filter((subtask) => subtask.kind === 'integrate')
    .map((subtask) => {
      const row = view.candidates.find((candidate) => candidate.subtaskId === subtask.id);
      // A candidate of an earlier round says nothing once integrating began again.
      const candidate = subtask.status === 'succeeded' ? (row?.candidate ?? null) : null;
      const own = agents.filter((agent) => subtask.issue === null || agent.issue === subtask.issue);
      return {
        subtask,
        candidate,
        rounds: row?.rounds ?? 0,
        rows: own.map((agent) => readRow(agent, view, candidate, isOpen(subtask.status))),
      };
    });
}

/** The rows of a task outside of any integration, e.g. of one that has none. */
export function readRows(view: TaskView): ChangeRow[] {
  const integrations = readIntegrations(view);
  if (integrations.length > 0) {
    const rows = new Map(integrations.flatMap(({ rows }) => rows.map((row) => [row.subtask.id, row])));
    return [...rows.values()].toSorted((a, b) => a.subtask.row - b.subtask.row);
  }
  return standingRows(view.subtasks)
    .filter((subtask) => subtask.kind === 'agent')
    .map((agent) => readRow(agent, view, null, false));
}

function readRow(
  subtask: Subtask,
  view: TaskView,
  candidate: Candidate | null,
  integrating: boolean,
): ChangeRow {
  const patch = view.patches.find((row) => row.subtaskId === subtask.id) ?? null;
  const row = { subtask, patch, code: null, reason: '' };
  if (isOpen(subtask.status)) return { ...row, state: 'open' };
  if (subtask.status !== 'succeeded') {
    const { code = null, detail = '' } = subtask.failure ?? {};
    return { ...row, state: 'failed', code: code ?? subtask.status, reason: detail };
  }
  if (candidate?.merged.includes(subtask.row)) return { ...row, state: 'merged' };
  const out = candidate?.leftOut.find((left) => left.subtaskId === subtask.id);
  if (out !== undefined) return { ...row, state: 'left_out', code: out.code, reason: out.reason };
  if (patch === null || patch.entries.length === 0) return { ...row, state: 'nothing' };
  if (integrating) return { ...row, state: 'ready' };
  const published = candidate !== null && (candidate.commit !== null || candidate.leftOut.length === 0);
  // The target has the change already, however it came there.
  return { ...row, state: published ? 'nothing' : 'withheld' };
}

/** Issues the pull request of that integration does all of the work of: it may say that it fixes them. */
export function fixedIssues(task: Task, { rows }: Integration): number[] {
  const numbers =
    task.issues.length > 0
      ? task.issues.map(({ number }) => number)
      : task.subject === 'issue'
        ? [task.number]
        : [];
  return numbers.filter((number) => {
    const own = rows.filter(({ subtask }) => subtask.issue === null || subtask.issue === number);
    const whole = own.every(({ state }) => state === 'merged' || state === 'nothing');
    return whole && own.some(({ state }) => state === 'merged');
  });
}

/** What became of an integration on GitHub. */
export type ChangeOutcome =
  | {
      readonly kind: 'pull';
      readonly number: number;
      readonly url: string;
      readonly branch: string;
      readonly note: string;
    }
  /** The head is in a fork: the patch is in a comment. */
  | { readonly kind: 'patch'; readonly url: string | null }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** There is no candidate to publish; the rows say why. */
  | { readonly kind: 'none' }
  /** The target moved: it is integrated again. */
  | { readonly kind: 'moved' };

export interface ChangeKeys {
  readonly branch: string;
  readonly pull: string;
  readonly patch: string;
  /** Name of the branch on GitHub. */
  readonly ref: string;
}

export function changeKeys(taskId: string, issue: number | null): ChangeKeys {
  const suffix = issue === null ? '' : `:${issue}`;
  return {
    branch: `branch:${taskId}${suffix}`,
    pull: `pull:${taskId}${suffix}`,
    patch: `patch:${taskId}${suffix}`,
    ref: `patchfleet/${taskId}${issue === null ? '' : `/${issue}`}`,
  };
}

/** What the rows of its publications say; null while nothing is settled. */
export function settledOutcome(
  keys: ChangeKeys,
  rows: {
    readonly branch: Publication | null;
    readonly pull: Publication | null;
    readonly patch: Publication | null;
  },
): ChangeOutcome | null {
  for (const row of [rows.branch, rows.pull, rows.patch]) {
    if (row?.status === 'failed' && row.failure !== null) return { kind: 'refused', failure: row.failure };
  }
  if (rows.patch?.status === 'done') return { kind: 'patch', url: rows.patch.url };
  const { pull } = rows;
  if (pull?.status !== 'done') return null;
  const note = pull.detail['note'];
  return {
    kind: 'pull',
    number: Number(pull.detail['number']),
    url: pull.url ?? '',
    branch: keys.ref,
    note: typeof note === 'string' ? note : '',
  };
}
