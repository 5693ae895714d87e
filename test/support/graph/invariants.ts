import { expect } from 'vitest';
import { isOpen } from '../../../src/domain/task.ts';
import type { History } from './histories.ts';
import type { Snapshot, SnapshotAttempt, SnapshotRow } from './world.ts';

/** What is true of every graph at every moment. */

export function isLive({ status }: Pick<SnapshotAttempt, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

/** `started` by the step from `before` to `after`. */
export function checkStarts(before: Snapshot, after: Snapshot, started: readonly string[]): void {
  const rows = new Map(after.rows.map((row) => [row.id, row]));
  const begun = started.map((id) => {
    const attempt = after.attempts.find((one) => one.id === id);
    const row = rows.get(attempt?.subtaskId ?? '');
    if (attempt === undefined || row === undefined) throw new Error(`${id} was started and is not there`);
    expect(before.attempts.some((one) => one.id === id)).toBe(false);
    expect({ status: row.status, pausing: row.pausing }).toEqual({ status: 'running', pausing: false });
    expect(missing(row, rows), `row ${row.row} started before its dependencies`).toEqual([]);
    return row;
  });
  // The longest remaining path first, then the order of the matrix.
  const order = begun.toSorted((a, b) => b.path - a.path || a.row - b.row);
  expect(begun.map(({ row }) => row)).toEqual(order.map(({ row }) => row));
}

export function checkState(state: Snapshot, { limits, parallel }: History): void {
  const rows = new Map(state.rows.map((row) => [row.id, row]));
  const running = state.rows.filter(({ status }) => status === 'running');
  expect(running.length).toBeLessThanOrEqual(parallel);
  const written = new Map<string, number>();
  for (const { row, writes } of running) {
    for (const path of writes) {
      expect(written.has(path), `rows ${written.get(path)} and ${row} write ${path} at once`).toBe(false);
      written.set(path, row);
    }
  }
  expect(state.retriesUsed).toBeLessThanOrEqual(limits.taskRetries);
  for (const row of state.rows) {
    expect(row.failures).toBeLessThanOrEqual(limits.retries + 1);
    expect(row.deaths).toBeLessThanOrEqual(limits.deaths);
    expect(row.depth).toBeLessThanOrEqual(limits.splitDepth);
    expect(row.verificationReruns).toBeLessThanOrEqual(limits.verificationReruns);
    // Once more behind what it collides with, where there are re-runs at all.
    const conflicts = limits.conflictReruns === 0 ? 0 : limits.conflictReruns + 1;
    expect(row.conflictReruns).toBeLessThanOrEqual(conflicts);
    if (row.status === 'waiting')
      expect(row.unmet, `unmet of row ${row.row}`).toBe(missing(row, rows).length);
    if (row.status === 'skipped')
      expect(row.failure?.detail).toMatch(/^row \d+, which it depends on, did not/);
  }
  const live = state.attempts.filter(isLive).map(({ subtaskId }) => subtaskId);
  expect(new Set(live).size).toBe(live.length);
  for (const id of live) expect(rows.get(id)?.status).toBe('running');
  expect(state.rows.map(({ row }) => row)).toEqual(state.rows.map((_, index) => index));
  checkAcyclic(state.rows);
}

/** Everything is over, the outcome says what the rows say, and each result that counts is the last of its row. */
export function checkEnd(state: Snapshot, accepted: ReadonlySet<string>): void {
  const { rows, outcome, attempts, results } = state;
  expect(rows.filter(({ status }) => isOpen(status))).toEqual([]);
  expect(attempts.filter(isLive)).toEqual([]);
  if (outcome !== 'cancelled') {
    expect(rows.filter(({ status }) => status === 'cancelled')).toEqual([]);
    const counted = rows.filter(({ status }) => status !== 'split');
    const agents = counted.filter(({ kind }) => kind === 'agent');
    const merges = counted.filter(({ kind }) => kind === 'integrate');
    const succeeded = (list: readonly SnapshotRow[]) =>
      list.filter((row) => row.status === 'succeeded').length;
    const all = succeeded(counted) === counted.length;
    const none = succeeded(agents) === 0 || (merges.length > 0 && succeeded(merges) === 0);
    expect(outcome).toBe(all ? 'succeeded' : none ? 'failed' : 'partial');
  }
  const newest = new Map(attempts.map((attempt) => [attempt.subtaskId, attempt]));
  for (const { attemptId } of results) expect(accepted.has(attemptId)).toBe(true);
  expect(new Set(results.map(({ row }) => row)).size).toBe(results.length);
  const counting = results.filter(({ row }) => rows[row]?.status === 'succeeded');
  expect(counting).toEqual(
    rows
      .filter(({ kind, status }) => kind === 'agent' && status === 'succeeded')
      .map(({ id, row }) => ({ attemptId: newest.get(id)?.id, row })),
  );
}

/** What it still waits for. */
function missing({ dependsOn, waitsFor }: SnapshotRow, rows: ReadonlyMap<string, SnapshotRow>): string[] {
  return dependsOn.filter((id) => {
    const status = rows.get(id)?.status ?? 'waiting';
    return waitsFor === 'end' ? isOpen(status) : status !== 'succeeded';
  });
}

function checkAcyclic(rows: readonly SnapshotRow[]): void {
  const left = new Map(rows.map(({ id, dependsOn }) => [id, new Set(dependsOn)]));
  const dependants = new Map<string, string[]>();
  for (const { id, dependsOn } of rows)
    for (const on of dependsOn) dependants.set(on, [...(dependants.get(on) ?? []), id]);
  const free = [...left].filter(([, on]) => on.size === 0).map(([id]) => id);
  let taken = 0;
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    taken += 1;
    for (const dependant of dependants.get(id) ?? []) {
      left.get(dependant)?.delete(id);
      if (left.get(dependant)?.size === 0) free.push(dependant);
    }
  }
  expect(taken, 'rows that are on no cycle').toBe(rows.length);
}
