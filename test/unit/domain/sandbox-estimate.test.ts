import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateSandbox, nextMemoryMib } from '../../../src/domain/sandbox-estimate.ts';

const bounds = { baseMib: 512, ceilingMib: 3000 };
const none = { files: 0, lines: 0, nesting: 0, dependencies: 0 };
const of = (peaks: readonly number[], size = none) => estimateSandbox(size, peaks, bounds);

describe('the memory of a sandbox', () => {
  it('is the default for little work of which nothing is known', () => {
    expect(of([])).toEqual({ memoryMib: 512, weight: 1 });
  });

  it('grows with files, lines, nesting and dependencies where nothing was measured', () => {
    expect(of([], { ...none, files: 40_000 })).toEqual({ memoryMib: 1024, weight: 2 });
    expect(of([], { ...none, lines: 15_000 })).toEqual({ memoryMib: 512, weight: 1 });
    expect(of([], { ...none, lines: 15_000, nesting: 54 })).toEqual({ memoryMib: 1024, weight: 2 });
    expect(of([], { ...none, dependencies: 400 })).toEqual({ memoryMib: 1024, weight: 2 });
  });

  it('is what a verification needed and a quarter more, whatever the size says', () => {
    expect(of([400], { ...none, files: 1_000_000 })).toEqual({ memoryMib: 512, weight: 1 });
    expect(of([420])).toEqual({ memoryMib: 1024, weight: 2 });
    expect(of([1700])).toEqual({ memoryMib: 3000, weight: 6 });
  });

  it('leaves one of ten verifications out', () => {
    expect(of([...Array<number>(9).fill(300), 2900])).toEqual({ memoryMib: 512, weight: 1 });
    expect(of([...Array<number>(8).fill(300), 900, 2900])).toEqual({ memoryMib: 2048, weight: 4 });
  });

  it('is refused where a verification needed more than the operator allows, not for a guess', () => {
    expect(() => of([3200])).toThrow(
      expect.objectContaining({
        code: 'memory_ceiling',
        detail:
          'verifications of this repository needed 3200 MiB, and the operator allows 3000 MiB (`sandbox.memory_ceiling_mib`)',
      }),
    );
    expect(of([2900])).toEqual({ memoryMib: 3000, weight: 6 });
    expect(of([], { ...none, files: 10_000_000 })).toEqual({ memoryMib: 3000, weight: 6 });
  });

  it('is twice as much after it ran out, to the ceiling and not beyond', () => {
    const tried: number[] = [];
    for (let last: number | null = 512; last !== null; last = nextMemoryMib(last, 3000)) tried.push(last);
    expect(tried).toEqual([512, 1024, 2048, 3000]);
    expect(nextMemoryMib(4000, 3000)).toBeNull();
  });

  it('always comes in classes between the default and the ceiling, and fits what was needed', () => {
    const size = fc.record({
      ...{ files: fc.nat(1_000_000), lines: fc.nat(1_000_000) },
      ...{ nesting: fc.nat(60), dependencies: fc.nat(2000) },
    });
    const limits = fc
      .record({ baseMib: fc.integer({ min: 64, max: 4096 }), more: fc.nat(20_000) })
      .map(({ baseMib, more }) => ({ baseMib, ceilingMib: baseMib + more }));
    fc.assert(
      fc.property(
        size,
        fc.array(fc.integer({ min: 1, max: 4096 }), { maxLength: 10 }),
        limits,
        (what, peaks, bound) => {
          const fitting = peaks.filter((peak) => peak <= bound.ceilingMib);
          const { memoryMib, weight } = estimateSandbox(what, fitting, bound);
          const isClass =
            memoryMib === bound.ceilingMib || Number.isInteger(Math.log2(memoryMib / bound.baseMib));
          expect(isClass && memoryMib >= bound.baseMib && memoryMib <= bound.ceilingMib).toBe(true);
          expect(weight).toBe(Math.ceil(memoryMib / bound.baseMib));
          const fit = fitting.filter((peak) => peak <= memoryMib).length;
          expect(fit / Math.max(1, fitting.length)).toBeGreaterThanOrEqual(fitting.length === 0 ? 0 : 0.9);
        },
      ),
    );
  });
});
