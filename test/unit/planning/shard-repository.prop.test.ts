import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shardRepository } from '../../../src/planning/shard-repository.ts';

const name = fc.constantFrom('a', 'b', 'c', '[id]', '(g)', 'ü', 'x y', '{z}');
const directory = fc.array(name, { maxLength: 3 }).map((names) => names.join('/'));
const file = fc
  .tuple(directory, fc.constantFrom('x.ts', 'y.ts', 'package.json', 'go.mod', '.hidden'))
  .map(([dir, base]) => (dir === '' ? base : `${dir}/${base}`));
const tree = fc
  .uniqueArray(file, { minLength: 1, maxLength: 120, size: 'max' })
  .map((files) => files.toSorted());

describe('a repository that is cut by its packages', () => {
  it('has every file in exactly one row that runs beside others, and no more rows than are allowed', () => {
    fc.assert(
      fc.property(tree, fc.integer({ min: 1, max: 6 }), (files, maxRows) => {
        const rows = shardRepository(files, maxRows);
        expect(rows.length).toBeLessThanOrEqual(maxRows);
        expect(rows.flatMap((row) => row.scope.covers).toSorted()).toEqual(files);
        expect(new Set(rows.map((row) => row.title)).size).toBe(rows.length);
      }),
      { numRuns: 300 },
    );
  });
});
