import { describe, expect, it } from 'vitest';
import type { Candidate, LeftOut } from '../../../src/domain/candidate.ts';
import type { Culprit } from '../../../src/domain/graph.ts';
import { rerunsOf } from '../../../src/scheduling/culprits.ts';
import { decide } from '../../../src/scheduling/decide.ts';
import { culprit, ended, endedState, limits, now } from './rows.ts';

const candidateOf = (...leftOut: LeftOut[]): Candidate => ({
  ...{ targetSha: 'target', commit: 'candidate', tree: 'tree', merged: [9], leftOut },
  ...{ verdict: null, checks: [], verifications: 1 },
});
const out = (index: number, code: string, against: string | null = null): LeftOut => ({
  ...{ subtaskId: `r${index}`, row: index, code, reason: `${code} of ${index}`, against },
});
const merge = (...leftOut: LeftOut[]) => ended(50, { kind: 'integrate', candidate: candidateOf(...leftOut) });
const reruns = (leftOut: LeftOut[], culprits: Culprit[], bounds = limits) =>
  rerunsOf([merge(...leftOut)], culprits, bounds).get('r50') ?? [];
const rerun = (
  index: number,
  cause: 'verification' | 'conflict',
  base: string | null,
  after: string[] = [],
) => ({
  ...{ type: 'rerun', id: `r${index}`, cause, feedback: `${cause} of ${index}`, base, after },
});

describe('what a candidate left out', () => {
  it('runs again on the candidate, told why, and the integration waits for it', () => {
    const state = endedState([merge(out(1, 'verification'), out(2, 'conflict'))], {
      culprits: [culprit('r1'), culprit('r2')],
    });
    expect(decide(state, limits, now)).toEqual([
      rerun(1, 'verification', 'candidate'),
      rerun(2, 'conflict', 'candidate'),
      { type: 'again', id: 'r50' },
    ]);
  });

  it('runs again on the target where nothing was merged', () => {
    const nothing = ended(50, {
      kind: 'integrate',
      candidate: { ...candidateOf(out(1, 'conflict')), commit: null, tree: null, merged: [] },
    });
    expect(rerunsOf([nothing], [culprit('r1')], limits).get('r50')).toEqual([rerun(1, 'conflict', 'target')]);
  });

  it('stays out where it failed by itself, ran again often enough, or others build upon it at this moment', () => {
    const leftOut = [1, 2, 3, 4].map((index) => out(index, 'verification'));
    const culprits = [
      culprit('r1', { status: 'failed' }),
      culprit('r2', { verificationReruns: 1 }),
      culprit('r3', { blocked: true }),
    ];
    expect(reruns(leftOut, culprits)).toEqual([]);
    expect(decide(endedState([merge(...leftOut)], { culprits }), limits, now)).toEqual([
      { type: 'complete', id: 'r50' },
    ]);
  });

  it('waits for what it builds upon where that runs again too', () => {
    const culprits = [culprit('r1', { below: ['r2'] }), culprit('r2', { above: ['r0', 'r1'] })];
    expect(reruns([out(1, 'verification'), out(2, 'verification')], culprits)).toEqual([
      rerun(1, 'verification', 'candidate'),
      rerun(2, 'verification', 'candidate', ['r1']),
    ]);
  });

  it('goes behind the patch it collides with after its re-runs, once, where both are known', () => {
    const twice = { conflictReruns: 2 };
    expect(reruns([out(1, 'conflict', 'r9')], [culprit('r1', twice)])).toEqual([
      rerun(1, 'conflict', null, ['r9']),
    ]);
    expect(reruns([out(1, 'conflict', 'r9')], [culprit('r1', { conflictReruns: 3 })])).toEqual([]);
    expect(reruns([out(1, 'conflict')], [culprit('r1', twice)])).toEqual([]);
  });

  it('stays out where it stands behind that patch already, or that one behind it', () => {
    const twice = { conflictReruns: 2 };
    const behind = out(1, 'conflict', 'r9');
    expect(reruns([behind], [culprit('r1', { ...twice, above: ['r9'] })])).toEqual([]);
    expect(reruns([behind], [culprit('r1', { ...twice, below: ['r4', 'r9'] })])).toEqual([]);
  });

  it('makes no cycle of two edges that are added at once', () => {
    const twice = { conflictReruns: 2 };
    // r8 waits for r2, and r9 for r1: r1 behind r8 and r2 behind r9 would go in a circle.
    const culprits = [culprit('r1', { ...twice, below: ['r9'] }), culprit('r2', { ...twice, below: ['r8'] })];
    expect(reruns([out(1, 'conflict', 'r8'), out(2, 'conflict', 'r9')], culprits)).toEqual([
      rerun(1, 'conflict', null, ['r8']),
    ]);
  });

  it('is left out at once where the operator wants no re-runs', () => {
    const none = { ...limits, verificationReruns: 0, conflictReruns: 0 };
    const leftOut = [out(1, 'conflict', 'r9'), out(2, 'verification')];
    expect(reruns(leftOut, [culprit('r1'), culprit('r2')], none)).toEqual([]);
  });
});
