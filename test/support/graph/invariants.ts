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

export function checkState(state: Snapshot, history: History): void {
  expect(faultsOf(state, history)).toEqual([]);
}

/** In words: an assertion for each of hundreds of rows at every step would take most of the time. */
function faultsOf(state: Snapshot, { limits, parallel }: History): string[] {
  const faults: string[] = [];
  const hold = (holds: boolean, what: string) => {
    if (!holds) faults.push(what);
  };
  const rows = new Map(state.rows.map((row) => [row.id, row]));
  const running = state.rows.filter(({ status }) => status === 'running');
  hold(running.length <= parallel, `${running.length} rows run at once`);
  const written = new Map<string, number>();
  for (const { row, writes } of running) {
    for (const path of writes) {
      hold(!written.has(path), `rows ${written.get(path)} and ${row} write ${path} at once`);
      written.set(path, row);
    }
  }
  hold(state.retriesUsed <= limits.taskRetries, `${state.retriesUsed} retries`);
  // Once more behind what it collides with, where there are re-runs at all.
  const conflicts = limits.conflictReruns === 0 ? 0 : limits.conflictReruns + 1;
  for (const [index, row] of state.rows.entries()) {
    const name = `row ${row.row}`;
    hold(row.row === index, `${name} stands at ${index}`);
    hold(row.failures <= limits.retries + 1, `${name}: ${row.failures} failures`);
    hold(row.deaths <= limits.deaths, `${name}: ${row.deaths} deaths`);
    const { baseMib, ceilingMib } = limits.memory;
    const mib = row.memoryMib ?? baseMib;
    const step = mib === ceilingMib || Number.isInteger(Math.log2(mib / baseMib));
    hold(step && (mib <= ceilingMib || mib === baseMib), `${name}: ${mib} MiB`);
    const gaveUp = row.status === 'failed' && row.failure?.code === 'memory_ceiling';
    hold(!gaveUp || mib >= ceilingMib, `${name}: given up with ${mib} MiB`);
    hold(row.depth <= limits.splitDepth, `${name}: depth ${row.depth}`);
    hold(row.verificationReruns <= limits.verificationReruns, `${name}: ${row.verificationReruns} re-runs`);
    hold(row.conflictReruns <= conflicts, `${name}: ${row.conflictReruns} re-runs after conflicts`);
    if (row.status === 'waiting') {
      const { length } = missing(row, rows);
      hold(row.unmet === length, `${name} waits for ${length}, not for ${row.unmet}`);
    }
    if (row.status === 'skipped') {
      const named = /^row (\d+)(?: \(".*"\))?, which it depends on, did not succeed$/.exec(
        row.failure?.detail ?? '',
      )?.[1];
      const cause = state.rows[Number(named) - 1];
      const broken = cause?.status === 'failed' || cause?.status === 'skipped';
      hold(broken && row.dependsOn.includes(cause.id), `${name} was skipped for ${row.failure?.detail}`);
    }
  }
  const live = state.attempts.filter(isLive).map(({ subtaskId }) => subtaskId);
  hold(new Set(live).size === live.length, 'a row has two live attempts');
  for (const id of live)
    hold(rows.get(id)?.status === 'running', `${id} has a live attempt and does not run`);
  hold(isAcyclic(state.rows), 'there is a cycle');
  return faults;
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

function isAcyclic(rows: readonly SnapshotRow[]): boolean {
  const left = new Map(rows.map(({ id, dependsOn }) => [id, new Set(dependsOn)]));
  const dependants = Map.groupBy(
    rows.flatMap(({ id, dependsOn }) => dependsOn.map((on) => ({ id, on }))),
    ({ on }) => on,
  );
  const free = [...left].filter(([, on]) => on.size === 0).map(([id]) => id);
  let taken = 0;
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    taken += 1;
    for (const { id: dependant } of dependants.get(id) ?? []) {
      left.get(dependant)?.delete(id);
      if (left.get(dependant)?.size === 0) free.push(dependant);
    }
  }
  return taken === rows.length;
}
