import { divideRow } from '../domain/divide.ts';
import { type Failure, failureKinds } from '../domain/failure.ts';
import type { Action, EndedRow, SplitAction } from '../domain/graph.ts';
import { nextMemoryMib, weightOf } from '../domain/sandbox-estimate.ts';
import { backoffMs } from './backoff.ts';
import type { DecideLimits } from './limits.ts';

/** What becomes of a row whose attempt gave no result. `retriesUsed`: of the task, so far. */
export function afterFailure(row: EndedRow, limits: DecideLimits, retriesUsed: number, now: number): Action {
  if (row.attempt === 'lost') return afterDeath(row, limits, now);
  const failure = row.failure ?? { code: 'internal' as const, detail: 'its attempt ended without a result' };
  // Its turns were honest work, too much for one attempt.
  const overran = failure.code === 'wall_limit' && row.progressed;
  if (failure.code === 'verification_failed') return afterVerification(row, failure, limits);
  if (failure.code === 'memory_exhausted') return withMoreMemory(row, failure, limits);
  const kind = overran ? 'too_big' : failureKinds[failure.code].class;
  switch (kind) {
    case 'too_big':
      return (
        split(row, limits, '') ??
        (overran ? retry(row, failure, limits, retriesUsed, now) : next(row, failure))
      );
    case 'transient':
      return retry(row, failure, limits, retriesUsed, now);
    case 'conflict':
      return row.conflictReruns < limits.conflictReruns
        ? rerun(row, 'conflict', failure)
        : next(row, failure);
    case 'permanent':
      return isOfAllAgents(failure.code) ? fail(row, failure) : next(row, failure);
    default: // a budget, or the safety of the worker: no other agent helps
      return fail(row, failure);
  }
}

/** Another agent would meet the same. */
function isOfAllAgents(code: Failure['code']): boolean {
  return code === 'cancelled' || code === 'setup_failed' || code === 'image_refused';
}

/** A worker's death costs no retry, but a row that keeps killing workers is given up. */
function afterDeath(row: EndedRow, limits: DecideLimits, now: number): Action {
  if (row.deaths < limits.deaths) return { type: 'retry', id: row.id, notBefore: now, counted: false };
  const detail = `${row.deaths} workers died while they worked on it`;
  return fail(row, { code: 'worker_lost', detail });
}

/** Once more with what the checks said, then in smaller parts. */
function afterVerification(row: EndedRow, failure: Failure, limits: DecideLimits): Action {
  if (row.verificationReruns < limits.verificationReruns) return rerun(row, 'verification', failure);
  const smaller = limits.verificationReruns > 0 ? split(row, limits, failure.detail) : null;
  return smaller ?? next(row, failure);
}

/** With twice the memory, as far as the operator's ceiling; the pause of a retry would bring nothing. */
function withMoreMemory(row: EndedRow, failure: Failure, { memory }: DecideLimits): Action {
  const last = row.memoryMib ?? memory.baseMib;
  const memoryMib = nextMemoryMib(last, memory.ceilingMib);
  if (memoryMib === null) {
    const detail = `${failure.detail}\nIt ran out of ${last} MiB, and the operator allows no more than ${memory.ceilingMib} MiB (\`sandbox.memory_ceiling_mib\`).`;
    return next(row, { code: 'memory_ceiling', detail });
  }
  const reason = `It ran out of ${last} MiB of memory and is tried again with ${memoryMib} MiB.`;
  return { type: 'enlarge', id: row.id, memoryMib, weight: weightOf(memoryMib, memory), reason };
}

function retry(row: EndedRow, failure: Failure, limits: DecideLimits, used: number, now: number): Action {
  if (row.failures > limits.retries) return next(row, failure);
  if (used >= limits.taskRetries) {
    const detail = `${failure.detail}\nNot tried again: the task has used its ${limits.taskRetries} retries.`;
    return next(row, { ...failure, detail });
  }
  return { type: 'retry', id: row.id, notBefore: now + backoffMs(row.id, row.failures), counted: true };
}

function rerun(row: EndedRow, cause: 'verification' | 'conflict', { detail }: Failure): Action {
  return { type: 'rerun', id: row.id, cause, feedback: detail, base: row.base, after: [] };
}

/** Null: it is small enough already, or cannot be divided. */
function split(row: EndedRow, limits: DecideLimits, feedback: string): SplitAction | null {
  if (row.kind !== 'agent' || row.depth >= limits.splitDepth) return null;
  const parts = divideRow(row.matrix);
  if (parts.length < 2) return null;
  const children = parts.map(({ title, matrix, share }) => ({
    title: `${row.title} (${title})`,
    matrix,
    complexity: row.complexity * share,
  }));
  return { type: 'split', id: row.id, children, feedback };
}

/** The next agent of its chain; without one it has failed for good. */
function next(row: EndedRow, failure: Failure): Action {
  const [agent, ...rest] = row.fallbacks;
  return agent === undefined ? fail(row, failure) : { type: 'fallback', id: row.id, agent, rest };
}

function fail({ id }: EndedRow, failure: Failure): Action {
  return { type: 'fail', id, failure };
}
