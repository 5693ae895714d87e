import type { Culprit, EndedRow, EndedState, ReadyState } from '../../../src/domain/graph.ts';
import type { DecideLimits } from '../../../src/scheduling/limits.ts';

/** States of graphs for tests of what is decided about them. */

export const limits: DecideLimits = {
  retries: 2,
  taskRetries: 40,
  deaths: 3,
  splitDepth: 3,
  verificationReruns: 1,
  conflictReruns: 2,
  memory: { baseMib: 1024, ceilingMib: 4096 },
};

export const now = 1_000_000;

export function ended(index: number, change: Partial<EndedRow> = {}): EndedRow {
  return {
    id: `r${index}`,
    row: index,
    kind: 'agent',
    issue: null,
    title: `Row ${index}`,
    agent: 'fixer',
    fallbacks: [],
    matrix: {
      goal: 'do it',
      background: '',
      inputs: [],
      writes: [`f${index}.js`],
      output: 'a patch',
      constraints: [],
      verification: 'the tests pass',
      limits: { wallMs: 1000, idleMs: 1000, turns: 10, tokens: 1000 },
    },
    complexity: 8,
    depth: 0,
    failures: 0,
    deaths: 0,
    verificationReruns: 0,
    conflictReruns: 0,
    base: null,
    memoryMib: null,
    attempt: 'succeeded',
    failure: null,
    progressed: true,
    requested: [],
    candidate: null,
    ...change,
  };
}

export function endedState(rows: readonly EndedRow[], change: Partial<EndedState> = {}): EndedState {
  return { step: 'ended', ended: rows, retriesUsed: 0, culprits: [], rows: [], maxRows: 40, ...change };
}

export function readyState(change: Partial<ReadyState> = {}): ReadyState {
  return { step: 'ready', ready: [], live: 0, parallel: 2, nextStart: null, tally: null, ...change };
}

export function culprit(id: string, change: Partial<Culprit> = {}): Culprit {
  return {
    ...{ id, status: 'succeeded', verificationReruns: 0, conflictReruns: 0, above: [], below: [] },
    blocked: false,
    ...change,
  };
}
