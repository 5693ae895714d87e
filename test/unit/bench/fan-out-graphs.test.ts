import { describe, expect, it } from 'vitest';
import {
  behindBarriers,
  flatGraph,
  layeredGraph,
  lowerBound,
  scopeOf,
  scriptOf,
} from '../../bench/fan-out-graphs.ts';

describe('the graphs of the fan-outs', () => {
  it('take at least their work over all places, and at least their heaviest chain', () => {
    const chain = [
      { units: 2, dependsOn: [] },
      { units: 3, dependsOn: [0] },
      { units: 4, dependsOn: [] },
      { units: 1, dependsOn: [1, 2] },
    ];
    expect([1, 2, 10].map((parallel) => lowerBound(chain, parallel))).toEqual([10, 6, 6]);
    expect(lowerBound(flatGraph(40), 20)).toBe(2);
  });

  it('are the same for the same seed, and others for another', () => {
    expect(layeredGraph(200, 12, 1)).toEqual(layeredGraph(200, 12, 1));
    expect(layeredGraph(200, 12, 1)).not.toEqual(layeredGraph(200, 12, 2));
  });

  it.each([1, 2, 3])('have every row in one layer, behind rows of the layer before (seed %i)', (seed) => {
    const layers = layeredGraph(200, 12, seed);
    expect(layers.flat()).toHaveLength(200);
    expect(layers.every((layer) => layer.length > 0)).toBe(true);
    let first = 0;
    for (const [index, layer] of layers.entries()) {
      const before = index === 0 ? 0 : (layers[index - 1]?.length ?? 0);
      for (const { units, dependsOn } of layer) {
        expect(units).toBeGreaterThanOrEqual(1);
        expect(units).toBeLessThanOrEqual(9);
        expect(dependsOn.every((row) => row >= first - before && row < first)).toBe(true);
        expect(dependsOn.length > 0).toBe(index > 0);
      }
      first += layer.length;
    }
  });

  it('wait for whole layers behind barriers, which is never faster', () => {
    const layers = layeredGraph(50, 5, 7);
    const barriers = behindBarriers(layers);
    expect(barriers.map(({ units }) => units)).toEqual(layers.flat().map(({ units }) => units));
    const widths = layers.map(({ length }) => length);
    expect(barriers.at(-1)?.dependsOn).toHaveLength(widths.at(-2) ?? 0);
    expect(lowerBound(barriers, 50)).toBeGreaterThanOrEqual(lowerBound(layers.flat(), 50));
  });

  it('are planned with a file for each unit, and calls that share the time of the row', () => {
    const rows = [
      { units: 1, dependsOn: [] },
      { units: 2, dependsOn: [0] },
    ];
    expect(scopeOf(1, { units: 2, dependsOn: [0] })).toEqual(['src/part-002/1.js', 'src/part-002/2.js']);
    const script = scriptOf(rows, 600);
    expect(script.callMs).toEqual({ 'src/part-001/1.js': 200, 'src/part-002/1.js': 400 });
    expect(script.rows.map(({ depends_on, writes }) => [depends_on, writes.length])).toEqual([
      [[], 1],
      [[0], 2],
    ]);
  });
});
