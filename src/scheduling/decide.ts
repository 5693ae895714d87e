import { failureKinds } from '../domain/failure.ts';
import type { Action, GraphRow } from '../domain/graph.ts';
import { isOpen, type SubtaskStatus, type TaskOutcome } from '../domain/task.ts';

/**
 * The scheduler's one decision: from the rows of a task to what happens next. Pure; `advance` applies it in
 * one transaction.
 */

export interface DecideLimits {
  /** Attempts of the task that may be live at once. */
  readonly taskParallel: number;
  /** Further attempts after a transient failure. */
  readonly retries: number;
  /** Workers a row may lose before it is given up. */
  readonly deaths: number;
}

const backoffBaseMs = 1000;
const backoffMaxMs = 30_000;

/** Exponential: 1 s, 2 s, 4 s ... at most 30 s. */
export function backoffMs(failures: number): number {
  return Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.max(0, failures - 1));
}

export function decide(rows: readonly GraphRow[], limits: DecideLimits, now: number): Action[] {
  const actions: Action[] = [];
  const status = new Map(rows.map((row) => [row.id, row.status]));
  const notBefore = new Map(rows.map((row) => [row.id, row.notBefore]));
  const failure = new Map(rows.map((row) => [row.id, row.failure]));

  // 1. Rows whose attempt ended without a result: again, or over.
  for (const row of rows) {
    if (row.status !== 'running' || row.lastAttempt === 'queued' || row.lastAttempt === 'running') continue;
    const action = afterFailure(row, limits, now);
    actions.push(action);
    if (action.type === 'retry') {
      status.set(row.id, 'waiting');
      notBefore.set(row.id, action.notBefore);
    } else {
      status.set(row.id, 'failed');
      failure.set(row.id, action.failure);
    }
  }

  // 2. Rows that can never start: a row they wait for will not succeed. In rounds, since skips spread.
  for (let spread = true; spread; ) {
    spread = false;
    for (const row of rows) {
      if (status.get(row.id) !== 'waiting' || row.waitsFor === 'end') continue;
      const broken = row.dependsOn.find((id) =>
        ['failed', 'cancelled', 'skipped'].includes(status.get(id) ?? 'failed'),
      );
      if (broken === undefined) continue;
      const cause = rows.find((other) => other.id === broken);
      const skip = {
        code: failure.get(broken)?.code ?? ('internal' as const),
        detail: `row ${(cause?.row ?? -1) + 1}, which it depends on, did not succeed`,
      };
      actions.push({ type: 'skip', id: row.id, failure: skip });
      failure.set(row.id, skip);
      status.set(row.id, 'skipped');
      spread = true;
    }
  }

  // 3. Starts: what is ready, the longest remaining path first, within the limit.
  const live = rows.filter((row) => status.get(row.id) === 'running').length;
  const ready = rows.filter(
    (row) =>
      status.get(row.id) === 'waiting' && row.dependsOn.every((id) => met(row, status.get(id) ?? 'failed')),
  );
  const due = ready.filter((row) => (notBefore.get(row.id) ?? 0) <= now);
  const length = remainingPath(rows);
  due.sort((a, b) => (length.get(b.id) ?? 0) - (length.get(a.id) ?? 0) || a.row - b.row);
  const started = due.slice(0, Math.max(0, limits.taskParallel - live));
  for (const row of started) {
    actions.push({ type: 'start', id: row.id });
    status.set(row.id, 'running');
  }

  // 4. The end, or the next time to look.
  const open = rows.filter((row) => ['waiting', 'running'].includes(status.get(row.id) ?? ''));
  if (open.length === 0) {
    actions.push({ type: 'settle', outcome: outcomeOf(rows, (row) => status.get(row.id) ?? 'failed') });
  } else {
    const later = ready.map((row) => notBefore.get(row.id) ?? 0).filter((at) => at > now);
    if (later.length > 0) actions.push({ type: 'wake', at: Math.min(...later) });
  }
  return actions;
}

function afterFailure(
  row: GraphRow,
  limits: DecideLimits,
  now: number,
): Extract<Action, { type: 'retry' | 'fail' }> {
  if (row.lastAttempt === 'lost') {
    // A worker's death costs no retry, but a row that keeps killing workers is given up.
    if (row.deaths < limits.deaths) return { type: 'retry', id: row.id, notBefore: now };
    const detail = `${row.deaths} workers died while they worked on it`;
    return { type: 'fail', id: row.id, failure: { code: 'worker_lost', detail } };
  }
  const failure = row.failure ?? { code: 'internal' as const, detail: 'its attempt ended without a result' };
  const again = failureKinds[failure.code].class === 'transient' && row.failures <= limits.retries;
  return again
    ? { type: 'retry', id: row.id, notBefore: now + backoffMs(row.failures) }
    : { type: 'fail', id: row.id, failure };
}

/** Complexity of the heaviest chain that begins with each row. Plans are acyclic. */
function remainingPath(rows: readonly GraphRow[]): Map<string, number> {
  const dependants = new Map<string, GraphRow[]>();
  for (const row of rows)
    for (const on of row.dependsOn) dependants.set(on, [...(dependants.get(on) ?? []), row]);
  const length = new Map<string, number>();
  const visit = (row: GraphRow): number => {
    const known = length.get(row.id);
    if (known !== undefined) return known;
    const below = (dependants.get(row.id) ?? []).map(visit);
    const total = row.complexity + Math.max(0, ...below);
    length.set(row.id, total);
    return total;
  };
  for (const row of rows) visit(row);
  return length;
}

/** Whether a dependency in that status lets the row start. */
function met(row: GraphRow, dependency: SubtaskStatus): boolean {
  return row.waitsFor === 'end' ? !isOpen(dependency) : dependency === 'succeeded';
}

/** Rows of agents are the work; a row that integrates can spoil it, not make it. */
function outcomeOf(rows: readonly GraphRow[], statusOf: (row: GraphRow) => SubtaskStatus): TaskOutcome {
  const succeeded = rows.filter((row) => row.kind === 'agent' && statusOf(row) === 'succeeded').length;
  const ended = rows.every((row) => statusOf(row) === 'succeeded');
  if (ended) return 'succeeded';
  const integrations = rows.filter((row) => row.kind === 'integrate');
  const spoilt = integrations.length > 0 && integrations.every((row) => statusOf(row) !== 'succeeded');
  return succeeded === 0 || spoilt ? 'failed' : 'partial';
}
