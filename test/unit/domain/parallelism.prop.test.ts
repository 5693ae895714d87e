import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comesAfter, longestChain, widest } from '../../../src/domain/parallelism.ts';

/** Acyclic: rows depend on earlier ones; then shuffled, since a plan may name later rows. */
const graph = fc
  .integer({ min: 0, max: 9 })
  .chain((size) =>
    fc.tuple(
      fc.tuple(...Array.from({ length: size }, (_, row) => fc.subarray([...Array(row).keys()]))),
      fc.shuffledSubarray([...Array(size).keys()], { minLength: size }),
    ),
  )
  .map(([edges, names]) => {
    const renamed: number[][] = edges.map(() => []);
    for (const [row, list] of edges.entries())
      renamed[names[row] ?? 0] = list.map((other) => names[other] ?? 0);
    return renamed;
  });

describe('how much of a graph runs at once', () => {
  it('is the largest set of rows of which none comes after another', () => {
    fc.assert(
      fc.property(graph, (dependsOn) => {
        const after = comesAfter(dependsOn);
        const rows = [...dependsOn.keys()];
        let best = 0;
        for (let set = 0; set < 2 ** rows.length; set += 1) {
          const chosen = rows.filter((row) => (set >> row) % 2 === 1);
          const free = chosen.every((row) => chosen.every((other) => after[row]?.has(other) !== true));
          if (free) best = Math.max(best, chosen.length);
        }
        expect(widest(dependsOn)).toBe(best);
      }),
    );
  });

  it('has a longest chain whose rows follow one another, and no row has more before it', () => {
    fc.assert(
      fc.property(graph, (dependsOn) => {
        const chain = longestChain(dependsOn);
        for (const [index, row] of chain.entries())
          if (index > 0) expect(dependsOn[row]).toContain(chain[index - 1]);
        const depth = (row: number): number => 1 + Math.max(0, ...(dependsOn[row] ?? []).map(depth));
        expect(chain.length).toBe(Math.max(0, ...dependsOn.map((_, row) => depth(row))));
      }),
    );
  });
});
