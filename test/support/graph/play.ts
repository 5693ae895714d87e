import { expect } from 'vitest';
import type { Candidate, LeftOut } from '../../../src/domain/candidate.ts';
import type { FailureCode } from '../../../src/domain/failure.ts';
import type { RequestedRow } from '../../../src/domain/fork.ts';
import { type Event, files, type History } from './histories.ts';
import { checkEnd, checkStarts, checkState, isLive } from './invariants.ts';
import type { GraphWorld, OpenWorld, Snapshot, SnapshotRow, TestClaim, TestResult } from './world.ts';

/** Plays a history to its end and holds every state on the way against what must always be true. */
export async function play(open: OpenWorld, history: History): Promise<Snapshot> {
  const { plan, limits, parallel, events } = history;
  const leftOut = history.leftOut.values();
  const world = await open(plan, limits, parallel);
  const claims: TestClaim[] = [];
  const accepted = new Set<string>();
  let state = await world.snapshot();
  const advance = async () => {
    const before = state;
    const started = await world.advance();
    state = await world.snapshot();
    checkState(state, history);
    checkStarts(before, state, started ?? []);
    if (started !== null) expect(isStuck(state), 'is stuck').toBe(false);
  };
  await advance();
  // Each row ends after so many attempts; there is no history that goes on for ever.
  const most = 200 + events.length + plan.rows.length * 40;
  for (let step = 0; state.phase === 'running'; step += 1) {
    expect(step).toBeLessThan(most);
    const event = events[step] ?? { kind: 'succeed', pick: step, advance: true };
    const idle = !state.attempts.some(isLive);
    if (event.kind === 'cancel') await world.cancel();
    // Either rows ended that the scheduler has not seen, or all that is left pauses.
    else if (idle) await world.elapse();
    else await happen(world, state, event, { claims, accepted, leftOut });
    state = await world.snapshot();
    if (event.advance || idle) await advance();
  }
  checkState(state, history);
  checkEnd(state, accepted);
  // Whoever comes late, from whenever, changes nothing.
  for (const claim of claims) expect(await world.succeed(claim, plain)).toBe(false);
  expect(await world.advance()).toBeNull();
  expect(await world.snapshot()).toEqual(state);
  return state;
}

const plain: TestResult = { requested: [], candidate: null };

/** Nothing is live, nothing pauses, and it is not over. */
function isStuck({ phase, rows, attempts }: Snapshot): boolean {
  return phase === 'running' && !attempts.some(isLive) && !rows.some(({ pausing }) => pausing);
}

/** What has been so far, and what is left to come. */
interface Course {
  readonly claims: TestClaim[];
  /** Attempts whose result was accepted. */
  readonly accepted: Set<string>;
  readonly leftOut: Iterator<number, undefined>;
}

async function happen(
  world: GraphWorld,
  state: Snapshot,
  event: Event,
  { claims, accepted, leftOut }: Course,
): Promise<void> {
  const live = state.attempts.filter(isLive);
  const attempt = live[event.pick % live.length];
  const row = state.rows.find(({ id }) => id === attempt?.subtaskId);
  if (attempt === undefined || row === undefined) throw new Error('nothing is live');
  if (event.kind === 'late' || event.kind === 'foreign') {
    const running = live.filter(({ status }) => status === 'running').map(({ id }) => id);
    const over = claims.filter(
      (claim, index) =>
        !running.includes(claim.attemptId) ||
        claims.findLastIndex(({ attemptId }) => attemptId === claim.attemptId) !== index,
    );
    const late = over[event.pick % Math.max(1, over.length)];
    const claim = event.kind === 'late' ? late : { attemptId: attempt.id, epoch: 99 };
    if (claim === undefined) return;
    expect(await world.succeed(claim, plain)).toBe(false);
    expect(await world.fail(claim, { code: 'internal', detail: '' }, false)).toBe(false);
    expect(await world.snapshot()).toEqual(state);
    return;
  }
  const held = claims.findLast(({ attemptId }) => attemptId === attempt.id);
  const claim = attempt.status === 'running' ? (held ?? null) : await world.claim(attempt.id);
  if (claim === null) throw new Error('a queued attempt could not be claimed');
  if (claim !== held) claims.push(claim);
  const code = codes[event.kind];
  if (code !== undefined) {
    const detail = `${event.kind} of ${row.title}`;
    expect(await world.fail(claim, { code, detail }, event.pick % 2 === 0)).toBe(true);
  } else if (event.kind === 'die') await world.lose(attempt.id);
  else if (event.kind === 'release') await world.release(claim);
  else {
    const result = resultOf(row, state, event, leftOut);
    expect(await world.succeed(claim, result)).toBe(true);
    accepted.add(attempt.id);
    if (event.kind === 'twice') expect(await world.succeed(claim, result)).toBe(false);
  }
}

const codes: Partial<Record<Event['kind'], FailureCode>> = {
  transient: 'model_timeout',
  too_big: 'context_exceeded',
  time_out: 'wall_limit',
  memory: 'memory_exhausted',
  verification: 'verification_failed',
  conflict: 'merge_conflict',
  permanent: 'command_failed',
  budget: 'budget_exhausted',
};

function resultOf(
  row: SnapshotRow,
  state: Snapshot,
  event: Event,
  leftOut: Iterator<number, undefined>,
): TestResult {
  if (row.kind === 'integrate')
    return { requested: [], candidate: candidateOf(row, state, leftOut.next().value ?? 0) };
  if (event.kind !== 'ask_for_rows') return plain;
  const path = (index: number) => files[(event.pick + index) % files.length] ?? '';
  const requested = [0, 1].map(
    (index): RequestedRow => ({
      ...{ title: `Asked by ${row.title}: ${index}`, goal: 'more', inputs: [], verification: 'it works' },
      writes: [path(index * 5), path(index * 7 + 1)],
    }),
  );
  return { requested, candidate: null };
}

/** Leaves out the patches whose bits are set, and always what failed. */
function candidateOf(row: SnapshotRow, { rows }: Snapshot, bits: number): Candidate {
  const own = rows.filter(
    (other) => other.kind === 'agent' && (row.issue === null || other.issue === row.issue),
  );
  const made = own.filter(({ status }) => status === 'succeeded');
  const isOut = (index: number) => ((bits >> (index % 16)) & 1) === 1;
  const merged = made.filter((_, index) => !isOut(index));
  const against = merged[bits % Math.max(1, merged.length)]?.id ?? null;
  const leftOut = made.flatMap((other, index): LeftOut[] => {
    if (!isOut(index)) return [];
    const out = { subtaskId: other.id, row: other.row, reason: `without ${other.title}` };
    return [
      ((bits >> 12) + index) % 3 === 0
        ? { ...out, code: 'verification', against: null }
        : { ...out, code: 'conflict', against },
    ];
  });
  const failed = own
    .filter(({ status }) => status === 'failed')
    .map((other) => ({
      subtaskId: other.id,
      row: other.row,
      code: 'verification',
      reason: 'it failed',
      against: null,
    }));
  return {
    ...{ targetSha: 'target', commit: merged.length > 0 ? `candidate ${bits}` : null, tree: null },
    merged: merged.map((other) => other.row),
    leftOut: [...leftOut, ...failed],
    ...{ verdict: null, checks: [], verifications: 1 },
  };
}
