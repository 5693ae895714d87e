import { describe, expect, it } from 'vitest';
import { PatchfleetError, toFailure } from '../../../src/domain/failure.ts';

describe('a failure as it is stored', () => {
  it.each([
    ['keeps code and detail', new PatchfleetError('patch_refused', 'a.ts: no'), 'patch_refused', 'a.ts: no'],
    ['is internal for other errors', new TypeError('x is no function'), 'internal', 'x is no function'],
    ['is internal for what is no error', 'text', 'internal', 'text'],
    ['holds nothing that JSON in Postgres refuses', new Error('a\0b\ud800c'), 'internal', 'a\uFFFDb\uFFFDc'],
  ])('%s', (_, thrown, code, detail) => expect(toFailure(thrown)).toEqual({ code, detail }));

  it('is bounded, and says how much is missing', () => {
    const { detail } = toFailure(new PatchfleetError('patch_refused', '😀'.repeat(50_000)));
    expect(detail.length).toBeLessThan(20_100);
    expect(detail).toMatch(/\[\.\.\. 80000 characters left out \.\.\.\]$/);
    expect(detail.isWellFormed()).toBe(true);
  });
});
