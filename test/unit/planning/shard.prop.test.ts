import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packagesOf } from '../../../src/planning/packages.ts';
import { balance, type ShardFile, shardFiles } from '../../../src/planning/shard.ts';

const files = fc
  .uniqueArray(
    fc.record({
      path: fc
        .tuple(fc.constantFrom('', 'a/', 'b/', 'c/src/', 'c/test/', 'd/[id]/'), fc.nat(99))
        .map(([dir, n]) => `${dir}${n}.ts`),
      complexity: fc.integer({ min: 1, max: 120 }),
    }),
    { selector: (file) => file.path, maxLength: 60 },
  )
  .map((list): ShardFile[] => list);
const limits = fc.record({
  complexity: fc.integer({ min: 20, max: 400 }),
  files: fc.integer({ min: 1, max: 20 }),
  shards: fc.constant(1000),
});
const packageOf = packagesOf(['c/package.json', 'd/[id]/go.mod', 'package.json']);

describe('shardFiles', () => {
  it('puts every file into exactly one shard, and scores shards by their files', () => {
    fc.assert(
      fc.property(files, limits, fc.integer({ min: 1, max: 8 }), (list, limit, most) => {
        const shards = shardFiles(list, packageOf, { ...limit, shards: most });
        expect(shards.flatMap((shard) => shard.paths).toSorted()).toEqual(
          list.map((file) => file.path).toSorted(),
        );
        expect(shards.length).toBeLessThanOrEqual(most);
        const score = new Map(list.map((file) => [file.path, file.complexity]));
        for (const shard of shards) {
          expect(shard.complexity).toBe(shard.paths.reduce((sum, path) => sum + (score.get(path) ?? 0), 0));
          expect(shard.paths.length).toBeGreaterThan(0);
        }
        expect(new Set(shards.map((shard) => shard.name)).size).toBe(shards.length);
      }),
    );
  });

  it('holds both limits, but for a single file that is above by itself', () => {
    fc.assert(
      fc.property(files, limits, (list, limit) => {
        for (const shard of shardFiles(list, packageOf, limit)) {
          expect(shard.paths.length).toBeLessThanOrEqual(limit.files);
          if (shard.paths.length > 1) expect(shard.complexity).toBeLessThanOrEqual(limit.complexity);
        }
      }),
    );
  });

  it('gives the same shards whatever the order of the files', () => {
    fc.assert(
      fc.property(files, limits, fc.infiniteStream(fc.nat()), (list, limit, chance) => {
        const keyed = list.map((file) => ({ file, at: chance.next().value }));
        const shuffled = keyed.toSorted((a, b) => a.at - b.at).map(({ file }) => file);
        expect(shardFiles(shuffled, packageOf, limit)).toEqual(shardFiles(list, packageOf, limit));
      }),
    );
  });

  it('never mixes packages that are worth an agent each', () => {
    fc.assert(
      fc.property(files, limits, (list, limit) => {
        const work = new Map<string, number>();
        for (const file of list) {
          const name = packageOf(file.path);
          work.set(name, (work.get(name) ?? 0) + file.complexity);
        }
        for (const shard of shardFiles(list, packageOf, limit)) {
          const large = new Set(shard.paths.map(packageOf));
          for (const name of large) if ((work.get(name) ?? 0) < limit.complexity / 8) large.delete(name);
          expect(large.size).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe('balance', () => {
  const works = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 7 });
  const toFiles = (list: readonly number[]): ShardFile[] =>
    list.map((complexity, index) => ({ path: `${index}`, complexity }));
  const largest = (parts: readonly (readonly ShardFile[])[]) =>
    Math.max(...parts.map((part) => part.reduce((sum, file) => sum + file.complexity, 0)));

  /** The least largest part there can be, by trying all. */
  function best(list: readonly number[], count: number): number {
    const sums = Array.from({ length: count }, () => 0);
    const place = (index: number): number => {
      const work = list[index];
      if (work === undefined) return Math.max(...sums);
      let least = Number.POSITIVE_INFINITY;
      for (let part = 0; part < count; part += 1) {
        sums[part] = (sums[part] ?? 0) + work;
        least = Math.min(least, place(index + 1));
        sums[part] = (sums[part] ?? 0) - work;
      }
      return least;
    };
    return place(0);
  }

  it('makes no part larger than 4/3 - 1/(3 count) of the best there is', () => {
    fc.assert(
      fc.property(works, fc.integer({ min: 1, max: 3 }), (list, count) => {
        const bound = (4 / 3 - 1 / (3 * count)) * best(list, count);
        expect(largest(balance(toFiles(list), count, list.length))).toBeLessThanOrEqual(bound + 1e-9);
      }),
      { numRuns: 60 },
    );
  });

  it('makes no part larger than the mean and the largest file together', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 80 }),
        fc.integer({ min: 1, max: 9 }),
        (list, count) => {
          const mean = list.reduce((sum, work) => sum + work, 0) / count;
          const bound = mean + Math.max(...list) * (1 - 1 / count);
          expect(largest(balance(toFiles(list), count, list.length))).toBeLessThanOrEqual(bound + 1e-9);
        },
      ),
    );
  });
});
