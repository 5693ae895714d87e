import { describe, expect, it } from 'vitest';
import { packagesOf } from '../../../src/planning/packages.ts';
import { type ShardFile, shardFiles } from '../../../src/planning/shard.ts';

const limits = { complexity: 400, files: 20, shards: 64 };
const packages = ['api', 'auth', 'cli', 'core', 'db', 'ui'];
const packageOf = packagesOf(packages.map((name) => `packages/${name}/package.json`));
const file = (path: string, complexity: number): ShardFile => ({ path, complexity });

describe('shardFiles', () => {
  it('gives each of six packages with enough work a shard of its own', () => {
    const files = packages.flatMap((name) => [1, 2, 3].map((n) => file(`packages/${name}/src/${n}.ts`, 30)));
    expect(shardFiles(files, packageOf, limits)).toEqual(
      packages.map((name) => ({
        name: `packages/${name}`,
        paths: [1, 2, 3].map((n) => `packages/${name}/src/${n}.ts`),
        complexity: 90,
      })),
    );
  });

  it('keeps a tiny change over several packages in one shard', () => {
    const files = packages.slice(0, 4).map((name) => file(`packages/${name}/a.ts`, 5));
    expect(shardFiles(files, packageOf, limits)).toEqual([
      {
        name: 'packages/api and 3 more',
        paths: files.map(({ path }) => path),
        complexity: 20,
      },
    ]);
  });

  it('puts small packages together until they are worth an agent, and the rest to the last', () => {
    const files = [20, 20, 20, 49, 300, 10].map((work, index) => file(`d${index}/a.ts`, work));
    const shards = shardFiles(files, packagesOf([]), limits);
    expect(shards.map(({ name, complexity }) => [name, complexity])).toEqual([
      ['d0, d1, d2', 60],
      ['d3, d4, d5', 359],
    ]);
  });

  it('cuts a large package into equal parts, by work and not by number of files', () => {
    const files = [300, 290, 200, 110, 60, 40].map((work, index) => file(`packages/api/${index}.ts`, work));
    expect(shardFiles(files, packageOf, limits)).toEqual([
      { name: 'packages/api 1/3', paths: ['packages/api/0.ts', 'packages/api/5.ts'], complexity: 340 },
      { name: 'packages/api 2/3', paths: ['packages/api/1.ts', 'packages/api/4.ts'], complexity: 350 },
      { name: 'packages/api 3/3', paths: ['packages/api/2.ts', 'packages/api/3.ts'], complexity: 310 },
    ]);
  });

  it('lets shards grow where there would be too many', () => {
    const files = Array.from({ length: 3000 }, (_, n) => file(`d${String(n).padStart(4, '0')}/a.ts`, 300));
    const shards = shardFiles(files, packagesOf([]), limits);
    expect(shards).toHaveLength(64);
    const works = shards.map((shard) => shard.complexity);
    expect(Math.max(...works)).toBeLessThanOrEqual(2 * Math.min(...works));
  });

  it('cuts nothing into nothing', () => {
    expect(shardFiles([], packageOf, limits)).toEqual([]);
  });
});

describe('packagesOf', () => {
  const of = packagesOf([
    'package.json',
    'packages/api/package.json',
    'packages/api/plugins/x/go.mod',
    'app/[id]/Cargo.toml',
  ]);
  it.each([
    ['packages/api/src/a.ts', 'packages/api'],
    ['packages/api/plugins/x/y/a.go', 'packages/api/plugins/x'],
    ['packages/other/a.ts', 'packages'],
    ['app/[id]/a.rs', 'app/[id]'],
    ['README.md', ''],
    ['docs/a.md', 'docs'],
  ])('%s belongs to %j', (path, name) => {
    expect(of(path)).toBe(name);
  });
});
