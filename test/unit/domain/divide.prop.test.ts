import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideRow } from '../../../src/domain/divide.ts';
import type { MatrixRow } from '../../../src/domain/matrix.ts';
import { pathGlob } from '../../../src/domain/path-glob.ts';

const limits = { wallMs: 1, idleMs: 1, turns: 1, tokens: 1 };

function rowOf(over: Partial<MatrixRow>): MatrixRow {
  return {
    goal: 'do it',
    background: 'b',
    inputs: [],
    writes: [],
    output: 'o',
    constraints: ['c'],
    verification: 'v',
    limits,
    ...over,
  };
}

const name = fc.constantFrom('a', 'b', 'lib', '[id]', '(g)', 'x.ts', 'y.test.ts', '.hidden', 'ü');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const paths = fc.uniqueArray(path, { maxLength: 30 });
const glob = fc.oneof(
  path.map((one) => `${one}/**`),
  path.map((one) => `${one}/`),
  path.map((one) => `${one}/*.ts`),
  fc.constant('**/*.md'),
);

describe('the parts of a review row', () => {
  it('have each of its files once, and are nearly as large as each other', () => {
    fc.assert(
      fc.property(paths, (files) => {
        // As planning makes it: a review reads and is judged by the same paths.
        const parts = divideRow(rowOf({ inputs: files, writes: files }));
        expect(parts.length).toBe(files.length < 2 ? 0 : 2);
        if (parts.length === 0) return;
        for (const part of parts) {
          expect(part.matrix.inputs.length).toBeGreaterThan(0);
          expect(new Set(part.matrix.writes)).toEqual(new Set(part.matrix.inputs));
        }
        const all = parts.flatMap(({ matrix }) => matrix.inputs);
        expect(all.toSorted()).toEqual(files.toSorted());
        const smaller = Math.min(...parts.map(({ matrix }) => matrix.inputs.length));
        expect(smaller).toBeGreaterThanOrEqual(Math.min(Math.floor(files.length / 2), files.length / 3));
        expect(parts.reduce((sum, { share }) => sum + share, 0)).toBe(1);
      }),
      { numRuns: 500 },
    );
  });

  it('are cut from its inputs where it writes nothing', () => {
    fc.assert(
      fc.property(paths, (files) => {
        const parts = divideRow(rowOf({ inputs: files }));
        expect(parts.length).toBe(files.length < 2 ? 0 : 2);
        expect(parts.flatMap(({ matrix }) => matrix.writes)).toEqual([]);
        if (parts.length > 0)
          expect(parts.flatMap(({ matrix }) => matrix.inputs).toSorted()).toEqual(files.toSorted());
      }),
    );
  });
});

describe('the parts of a row that writes', () => {
  const writes = fc.uniqueArray(fc.oneof({ weight: 3, arbitrary: path }, glob), { maxLength: 20 });

  it('have its scope together, and no path that both may write', () => {
    fc.assert(
      fc.property(writes, paths, fc.array(path, { maxLength: 40 }), (scope, inputs, others) => {
        const row = rowOf({ writes: scope, inputs });
        const parts = divideRow(row);
        if (parts.length === 0) return;
        expect(parts.flatMap(({ matrix }) => matrix.writes).toSorted()).toEqual(scope.toSorted());
        const may = parts.map(({ matrix }) => {
          const globs = matrix.writes.filter((one) => !inputs.includes(one)).map((one) => pathGlob(one));
          return (one: string) => matrix.writes.includes(one) || globs.some((matches) => matches(one));
        });
        for (const one of [...inputs, ...others]) expect(may.every((allows) => allows(one))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('give every input to somebody, and what one alone may write to that one', () => {
    fc.assert(
      fc.property(writes, paths, (scope, inputs) => {
        fc.pre(scope.length > 0);
        const parts = divideRow(rowOf({ writes: scope, inputs }));
        if (parts.length === 0) return;
        for (const input of inputs) {
          const readers = parts.filter(({ matrix }) => matrix.inputs.includes(input));
          const writer = parts.find(({ matrix }) => matrix.writes.includes(input));
          expect(readers.length).toBeGreaterThan(0);
          if (writer !== undefined) expect(readers).toEqual([writer]);
        }
      }),
    );
  });

  it('are the same for the same row, whatever the order of its paths', () => {
    fc.assert(
      fc.property(writes, (scope) => {
        const sides = (list: readonly string[]) =>
          divideRow(rowOf({ writes: [...list] })).map(({ matrix }) => matrix.writes.toSorted());
        expect(sides(scope.toReversed())).toEqual(sides(scope));
      }),
    );
  });
});

it('shares follow the weights that are known', () => {
  fc.assert(
    fc.property(fc.dictionary(path, fc.float({ min: Math.fround(0.1), max: 100, noNaN: true })), (known) => {
      const files = Object.keys(known);
      const parts = divideRow(rowOf({ writes: files, inputs: files }), new Map(Object.entries(known)));
      const total = files.reduce((sum, file) => sum + (known[file] ?? 0), 0);
      for (const { matrix, share } of parts) {
        const own = matrix.writes.reduce((sum, file) => sum + (known[file] ?? 0), 0);
        expect(share).toBeCloseTo(own / total);
        expect(share).toBeGreaterThan(0);
      }
    }),
  );
});

it('can be divided again and again until one file is left', () => {
  fc.assert(
    fc.property(paths, (files) => {
      fc.pre(files.length > 0);
      let rows = [rowOf({ writes: files, inputs: files })];
      for (let depth = 0; depth < 32; depth += 1)
        rows = rows.flatMap((row) => {
          const parts = divideRow(row);
          return parts.length === 0 ? [row] : parts.map(({ matrix }) => matrix);
        });
      expect(rows.map(({ writes }) => writes.length)).toEqual(rows.map(() => 1));
      expect(rows.length).toBe(files.length);
      // Of the notes that tell a part its files the last one stays.
      for (const { goal } of rows) expect(goal.split('of this row').length).toBeLessThanOrEqual(2);
    }),
    { numRuns: 50 },
  );
});
