import { describe, expect, it } from 'vitest';
import { type FailureCode, failureCodes } from '../../../src/domain/failure.ts';
import { decideResumption, turnsStand } from '../../../src/domain/resume.ts';
import type { AttemptStatus } from '../../../src/domain/task.ts';

const kept = { attemptId: 'a1', beginning: 'b' };
const next = { attemptId: 'a2', beginning: 'b' };
const ended = (status: AttemptStatus, code?: FailureCode) => ({
  status,
  failure: code === undefined ? null : { code, detail: '' },
});

describe('a new attempt', () => {
  it('goes on after a worker died', () => {
    expect(decideResumption(kept, next, ended('lost'))).toEqual({ goesOn: true });
  });

  it('goes on where it is the same attempt, given back, whatever was before it', () => {
    const same = { attemptId: 'a1', beginning: 'b' };
    expect(decideResumption(kept, same, null)).toEqual({ goesOn: true });
    expect(decideResumption(kept, same, ended('failed', 'verification_failed'))).toEqual({ goesOn: true });
  });

  it('goes on after failures of the world around, and after no others', () => {
    expect(
      failureCodes.filter((code) => decideResumption(kept, next, ended('failed', code)).goesOn).sort(),
    ).toEqual([
      'git_failed',
      'github_unavailable',
      'idle_limit',
      'internal',
      'memory_exhausted',
      'model_timeout',
      'model_unavailable',
      'sandbox_died',
      'sandbox_unavailable',
    ]);
    expect(failureCodes.filter(turnsStand)).toHaveLength(9);
  });

  it.each([
    ['what it begins with is another', { ...next, beginning: 'c' }, ended('lost'), 'its agent, its base or'],
    ['nothing is known', next, null, 'nothing is known'],
    ['it was cancelled', next, ended('cancelled'), 'is cancelled'],
    ['it had succeeded', next, ended('succeeded'), 'is succeeded'],
    ['its failure is unknown', next, ended('failed'), 'not known why'],
    ['the checks failed', next, ended('failed', 'verification_failed'), 'failed with verification_failed'],
  ])('begins anew where %s', (_, now, earlier, because) => {
    expect(decideResumption(kept, now, earlier)).toEqual({
      goesOn: false,
      because: expect.stringContaining(because),
    });
  });
});
