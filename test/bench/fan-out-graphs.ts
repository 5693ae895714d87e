import type { ModelScript, ScriptedRow } from './stage/script.ts';
import { callsOfRow } from './stage/script.ts';

/** The graphs that are fanned out, and the least time they can take. Times are milliseconds. */

/** A row: how long it takes, in units, and the rows it depends on. */
export interface GraphRow {
  readonly units: number;
  readonly dependsOn: readonly number[];
}

export function flatGraph(rows: number): GraphRow[] {
  return Array.from({ length: rows }, () => ({ units: 1, dependsOn: [] }));
}

/**
 * Rows in layers of different widths; each takes 1 to 9 units and depends on one to three rows of the layer before.
 * The same seed gives the same graph.
 */
export function layeredGraph(rows: number, layers: number, seed: number): GraphRow[][] {
  const random = seeded(seed);
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  const sizes = Array.from({ length: layers }, () => 1);
  for (let left = rows - layers; left > 0; left -= 1) {
    const layer = upTo(layers) - 1;
    sizes[layer] = (sizes[layer] ?? 0) + 1;
  }
  let first = 0;
  let before: number[] = [];
  return sizes.map((size) => {
    const layer = Array.from({ length: size }, () => ({
      units: upTo(9),
      dependsOn: [
        ...new Set(
          before.length === 0
            ? []
            : Array.from({ length: upTo(3) }, () => before[upTo(before.length) - 1] ?? 0),
        ),
      ].toSorted((a, b) => a - b),
    }));
    before = layer.map((_, index) => first + index);
    first += size;
    return layer;
  });
}

/** The same rows, each layer behind the whole one before it. */
export function behindBarriers(layers: readonly (readonly GraphRow[])[]): GraphRow[] {
  let first = 0;
  let before: number[] = [];
  return layers.flatMap((layer) => {
    const behind = before;
    before = layer.map((_, index) => first + index);
    first += layer.length;
    return layer.map(({ units }) => ({ units, dependsOn: behind }));
  });
}

/** No schedule is shorter: the heaviest chain, and all the work over all places. In units. */
export function lowerBound(rows: readonly GraphRow[], parallel: number): number {
  const ends: number[] = [];
  for (const { units, dependsOn } of rows)
    ends.push(units + Math.max(0, ...dependsOn.map((row) => ends[row] ?? 0)));
  const work = rows.reduce((sum, { units }) => sum + units, 0);
  return Math.max(Math.max(0, ...ends), work / parallel);
}

/** As many files as the row has units: the scheduler takes the size of its scope for its weight. */
export function scopeOf(row: number, { units }: GraphRow): string[] {
  const name = `src/part-${String(row + 1).padStart(3, '0')}`;
  return Array.from({ length: units }, (_, file) => `${name}/${file + 1}.js`);
}

/** What the model plans for the graph. `unitMs`: model time of a unit, over all calls of the row. */
export function scriptOf(rows: readonly GraphRow[], unitMs: number): ModelScript {
  const scopes = rows.map((row, index) => scopeOf(index, row));
  return {
    rows: rows.map(
      ({ dependsOn }, index): ScriptedRow => ({
        title: `part ${index + 1}`,
        goal: `Write part ${index + 1}.`,
        writes: scopes[index] ?? [],
        inputs: [],
        depends_on: dependsOn,
        verification: 'The part is rewritten.',
      }),
    ),
    callMs: Object.fromEntries(
      rows.map(({ units }, index) => [scopes[index]?.[0] ?? '', Math.round((units * unitMs) / callsOfRow)]),
    ),
  };
}

/** mulberry32: numbers in [0, 1). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
