import { describe, expect, it } from 'vitest';
import { cases, serialOf } from '../../bench/fan-out-cases.ts';
import type { FanOutResult } from '../../bench/fan-out-stages.ts';

const result = (wallMs: number, attemptMs: readonly number[]): FanOutResult => ({
  wallMs,
  ratio: 1,
  totalMs: wallMs,
  maxConcurrent: 1,
  attemptMs,
  stages: {},
});

describe('the cases of the fan-out', () => {
  it('are the three flat ones with and without containers, and a layered graph', () => {
    expect(cases.map(({ name, sandbox, idealMs }) => [name, sandbox, name === 'layered' || idealMs])).toEqual(
      [
        ['10x10', 'none', 6000],
        ['40x20', 'none', 12_000],
        ['200x200', 'none', 6000],
        ['10x10', 'docker', 6000],
        ['40x20', 'docker', 12_000],
        ['200x200', 'docker', 6000],
        ['layered', 'none', true],
      ],
    );
  });

  it('say what was measured one after the other and layer by layer, and what was computed', () => {
    const wall = result(3000, [1000, 1500, 1200, 900, 700]);
    expect(serialOf(wall, null, null, 2)).toEqual({
      serialMs: 5300,
      serial: 'summed',
      barrierMs: 1500 + 1200 + 700,
      barrier: 'waves',
    });
    expect(serialOf(wall, result(6000, []), result(4000, []), 2)).toEqual({
      serialMs: 6000,
      serial: 'measured',
      barrierMs: 4000,
      barrier: 'measured',
    });
  });
});
