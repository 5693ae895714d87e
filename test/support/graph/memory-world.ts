import type { Action, Culprit, EndedRow, GraphState, TaskRow } from '../../../src/domain/graph.ts';
import { remainingPaths } from '../../../src/domain/remaining-path.ts';
import { isOpen, type TaskOutcome } from '../../../src/domain/task.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { isLive } from './invariants.ts';
import type { GraphWorld, OpenWorld, SnapshotAttempt, TestClaim } from './world.ts';

/**
 * A store of graphs in memory, written for being read: every count is counted anew, nothing is kept twice. What the
 * real one does with partial indexes and counters must come to the same.
 */

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Row = Mutable<Omit<EndedRow, 'attempt' | 'progressed' | 'requested' | 'candidate'>> & {
  waitsFor: 'success' | 'end';
  status: TaskRow['status'];
  path: number;
  notBefore: number | null;
  candidate: EndedRow['candidate'];
  result: string | null;
};
type Attempt = Mutable<SnapshotAttempt> & {
  epoch: number;
  progressed: boolean;
  requested: EndedRow['requested'];
};

export const openMemoryWorld: OpenWorld = async (plan, limits, parallel) => {
  const paths = remainingPaths(plan.rows);
  const rows = plan.rows.map(
    (row, index): Row => ({
      ...{ id: `r${index}`, row: index, kind: row.kind ?? 'agent', issue: row.issue ?? null },
      ...{ title: row.title, agent: row.agent, fallbacks: [], matrix: row.matrix },
      ...{ complexity: row.complexity, depth: 0, failures: 0, deaths: 0, verificationReruns: 0 },
      ...{
        memoryMib: row.memoryMib ?? null,
        conflictReruns: 0,
        base: null,
        failure: null,
        waitsFor: row.waitsFor ?? 'success',
      },
      ...{ status: 'waiting', path: paths[index] ?? 0, notBefore: null, candidate: null, result: null },
    }),
  );
  const edges = new Map(
    plan.rows.map((row, index) => [`r${index}`, new Set(row.dependsOn.map((on) => `r${on}`))]),
  );
  const attempts: Attempt[] = [];
  let phase = 'running';
  let outcome: TaskOutcome | null = null;
  let retriesUsed = 0;
  let now = 0;

  const rowOf = (id: string): Row => {
    // Ids are `r` and the number of the row.
    const row = rows[Number(id.slice(1))];
    if (row === undefined) throw new Error(`no row ${id}`);
    return row;
  };
  const above = (id: string): ReadonlySet<string> => edges.get(id) ?? new Set();
  const beneath = (id: string) => rows.filter((row) => above(row.id).has(id));
  const unmet = (row: Row) =>
    [...above(row.id)].filter((id) => {
      const { status } = rowOf(id);
      return row.waitsFor === 'end' ? isOpen(status) : status !== 'succeeded';
    }).length;
  const attemptsOf = (id: string) => attempts.filter(({ subtaskId }) => subtaskId === id);
  const reach = (id: string, next: (id: string) => Iterable<string>): string[] => {
    const reached = new Set<string>();
    const visit = (from: string) => {
      for (const to of next(from)) {
        if (reached.has(to)) continue;
        reached.add(to);
        visit(to);
      }
    };
    visit(id);
    return [...reached];
  };
  const culpritOf = (id: string): Culprit => {
    const { status, waitsFor, verificationReruns, conflictReruns } = rowOf(id);
    const up = reach(id, above);
    const down = reach(id, (from) => beneath(from).map((row) => row.id));
    const busy = [...up, ...down].some(
      (other) => rowOf(other).kind === 'agent' && isOpen(rowOf(other).status),
    );
    const broken = waitsFor === 'success' && [...above(id)].some((on) => rowOf(on).status !== 'succeeded');
    const blocked = busy || broken;
    return { id, status, verificationReruns, conflictReruns, above: up, below: down, blocked };
  };

  const look = (): GraphState => {
    const running = rows.filter(({ status }) => status === 'running');
    const ended = running.filter(({ id }) => !attemptsOf(id).some(isLive));
    if (ended.length > 0) {
      const states = ended.map((row): EndedRow => {
        const last = attemptsOf(row.id).at(-1);
        const { progressed = false, requested = [] } = last ?? {};
        return { ...row, attempt: last?.status ?? 'failed', progressed, requested };
      });
      const out = states.flatMap(({ attempt, candidate }) =>
        attempt === 'succeeded' ? (candidate?.leftOut ?? []) : [],
      );
      return {
        ...{ step: 'ended', ended: states, retriesUsed, maxRows: 40 },
        culprits: [...new Set(out.map(({ subtaskId }) => subtaskId))].map(culpritOf),
        rows: rows.map(({ matrix, ...row }) => ({ ...row, writes: matrix.writes })),
      };
    }
    const free = rows.filter((row) => row.status === 'waiting' && unmet(row) === 0);
    const due = free
      .filter(({ notBefore }) => (notBefore ?? 0) <= now)
      .toSorted((a, b) => b.path - a.path || a.row - b.row);
    const later = free.flatMap(({ notBefore }) => (notBefore !== null && notBefore > now ? [notBefore] : []));
    const over = running.length === 0 && due.length === 0 && later.length === 0;
    const tally = (kind: Row['kind']) => {
      const counted = rows.filter((row) => row.kind === kind && row.status !== 'split');
      return {
        succeeded: counted.filter(({ status }) => status === 'succeeded').length,
        total: counted.length,
      };
    };
    return {
      ...{ step: 'ready', ready: due.map(({ id }) => id), live: running.length, parallel },
      nextStart: later.length === 0 ? null : Math.min(...later),
      tally: over ? { agents: tally('agent'), integrations: tally('integrate') } : null,
    };
  };

  const anew = { failures: 0, deaths: 0, failure: null, notBefore: null };
  const skipBeneath = ({ id, row, failure }: Row) => {
    for (const other of beneath(id)) {
      if (other.status !== 'waiting' || other.waitsFor === 'end') continue;
      const detail = `row ${row + 1}, which it depends on, did not succeed`;
      Object.assign(other, { status: 'skipped', failure: { code: failure?.code ?? 'internal', detail } });
      skipBeneath(other);
    }
  };
  const addRow = (row: Omit<Row, 'id' | 'row'>, on: Iterable<string>): string => {
    const id = `r${rows.length}`;
    rows.push({ ...row, id, row: rows.length });
    edges.set(id, new Set(on));
    return id;
  };
  const end = (row: TaskOutcome) => {
    phase = 'publishing';
    outcome = row;
    for (const one of rows) {
      const accepted = one.status === 'running' && attemptsOf(one.id).at(-1)?.status === 'succeeded';
      if (isOpen(one.status)) one.status = accepted ? 'succeeded' : 'cancelled';
    }
    for (const attempt of attempts) if (isLive(attempt)) attempt.status = 'cancelled';
  };

  const apply = (action: Action): void => {
    if (action.type === 'settle') end(action.outcome);
    if (!('id' in action)) return;
    const row = rowOf(action.id);
    switch (action.type) {
      case 'start': {
        row.status = 'running';
        const number = attemptsOf(row.id).length + 1;
        const state = { status: 'queued' as const, epoch: 0, progressed: false, requested: [] };
        attempts.push({ id: `${row.id}.${number}`, subtaskId: row.id, number, ...state });
        break;
      }
      case 'complete':
        Object.assign(row, { status: 'succeeded', failure: null });
        break;
      case 'retry':
        Object.assign(row, { status: 'waiting', notBefore: action.notBefore });
        if (action.counted) retriesUsed += 1;
        break;
      case 'enlarge':
        Object.assign(row, { status: 'waiting', notBefore: null, memoryMib: action.memoryMib });
        row.failures -= 1;
        break;
      case 'fallback':
        Object.assign(row, { ...anew, status: 'waiting', agent: action.agent, fallbacks: action.rest });
        break;
      case 'rerun':
        Object.assign(row, { ...anew, status: 'waiting', base: action.base });
        if (action.cause === 'verification') row.verificationReruns += 1;
        else row.conflictReruns += 1;
        for (const on of action.after) edges.get(row.id)?.add(on);
        break;
      case 'again':
        Object.assign(row, { ...anew, status: 'waiting' });
        break;
      case 'split': {
        row.status = 'split';
        const tail = row.path - row.complexity;
        const waiting = beneath(row.id);
        const state = { ...row, ...anew, status: 'waiting' as const, depth: row.depth + 1, result: null };
        const counters = { verificationReruns: 0, conflictReruns: 0 };
        const children = action.children.map((child) =>
          addRow({ ...state, ...counters, ...child, path: child.complexity + tail }, above(row.id)),
        );
        for (const other of waiting) {
          edges.get(other.id)?.delete(row.id);
          for (const child of children) edges.get(other.id)?.add(child);
        }
        break;
      }
      case 'fork':
        for (const { dependsOn, ...asked } of action.rows) {
          const merges = rows.filter(
            (other) => other.kind === 'integrate' && (other.issue === null || other.issue === row.issue),
          );
          const tail = Math.max(0, ...merges.map(({ path }) => path));
          const state = { ...row, ...anew, status: 'waiting' as const, waitsFor: 'success' as const };
          const counters = { depth: 0, verificationReruns: 0, conflictReruns: 0, base: null, result: null };
          const path = row.complexity + tail;
          const id = addRow({ ...state, ...counters, ...asked, path }, dependsOn);
          for (const merge of merges) edges.get(merge.id)?.add(id);
        }
        break;
      case 'fail':
        Object.assign(row, { status: 'failed', failure: action.failure });
        skipBeneath(row);
    }
  };

  const held = ({ attemptId, epoch }: TestClaim) =>
    attempts.find((one) => one.id === attemptId && one.epoch === epoch && one.status === 'running');

  const world: GraphWorld = {
    advance: async () => {
      if (phase !== 'running') return null;
      const known = attempts.length;
      for (let state = look(); ; state = look()) {
        // As the store does: results first, since what is asked for and what runs again may build upon them.
        const actions = decide(state, limits, now);
        for (const action of actions) if (action.type === 'complete') apply(action);
        for (const action of actions) if (action.type !== 'complete') apply(action);
        if (state.step === 'ready') break;
      }
      return attempts.slice(known).map(({ id }) => id);
    },
    claim: async (attemptId) => {
      const attempt = attempts.find(({ id, status }) => id === attemptId && status === 'queued');
      if (attempt === undefined) return null;
      attempt.status = 'running';
      attempt.epoch += 1;
      return { attemptId, epoch: attempt.epoch };
    },
    succeed: async (claim, { requested, candidate }) => {
      const attempt = held(claim);
      if (attempt === undefined) return false;
      const row = rowOf(attempt.subtaskId);
      Object.assign(attempt, { status: 'succeeded', requested });
      Object.assign(row, { failure: null, candidate, result: row.kind === 'agent' ? attempt.id : null });
      return true;
    },
    fail: async (claim, failure, progressed) => {
      const attempt = held(claim);
      if (attempt === undefined) return false;
      Object.assign(attempt, { status: 'failed', progressed });
      const row = rowOf(attempt.subtaskId);
      Object.assign(row, { failures: row.failures + 1, failure });
      return true;
    },
    lose: async (attemptId) => {
      const attempt = attempts.find(({ id }) => id === attemptId);
      if (attempt?.status !== 'running') return;
      attempt.status = 'lost';
      rowOf(attempt.subtaskId).deaths += 1;
    },
    release: async (claim) => {
      const attempt = held(claim);
      if (attempt !== undefined) attempt.status = 'queued';
    },
    elapse: async () => {
      now += 3_600_000;
    },
    cancel: async () => {
      if (phase === 'running') end('cancelled');
    },
    snapshot: async () => ({
      ...{ phase, outcome, retriesUsed },
      rows: rows.map((row) => ({
        ...{ id: row.id, row: row.row, kind: row.kind, issue: row.issue, waitsFor: row.waitsFor },
        ...{ status: row.status, title: row.title, writes: row.matrix.writes, path: row.path },
        ...{ dependsOn: [...above(row.id)].toSorted(), unmet: unmet(row), depth: row.depth },
        pausing: row.status === 'waiting' && row.notBefore !== null && row.notBefore > now,
        ...{ failures: row.failures, deaths: row.deaths, failure: row.failure, memoryMib: row.memoryMib },
        ...{ verificationReruns: row.verificationReruns, conflictReruns: row.conflictReruns },
      })),
      attempts: rows.flatMap(({ id }) =>
        attemptsOf(id).map(({ subtaskId, number, status, id: attempt }) => ({
          id: attempt,
          subtaskId,
          number,
          status,
        })),
      ),
      results: rows.flatMap(({ row, result }) => (result === null ? [] : [{ attemptId: result, row }])),
    }),
  };
  return world;
};
