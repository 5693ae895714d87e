import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protectionBy } from '../../../src/domain/protection.ts';
import { restoreProtected } from '../../../src/merging/restore-protected.ts';
import { createMergingSetting, type Files, type MergingSetting, manifest } from './merging-setting.ts';

const sumTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';
test('adds', () => assert.equal(sum(1, 2), 3));
`;
const toothless = `import { test } from 'node:test';\ntest('adds', () => {});\n`;
const files = {
  'package.json': manifest('node --test'),
  'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  'test/sum.test.js': sumTest,
  Makefile: 'test:\n\tnode --test\n',
  'docs/rules.md': 'rules\n',
  'test/fixtures/old/package.json': '{"name":"old"}',
};
const broken = { 'src/sum.js': 'export const sum = (a, b) => a - b;\n' };

let setting: MergingSetting;
beforeAll(async () => {
  setting = await createMergingSetting(files);
});
afterAll(async () => await setting.end());

async function restore(
  changes: Files,
  options: { allowed?: string[]; globs?: string[]; base?: string } = {},
) {
  const { mirror, head } = setting;
  const base = options.base ?? head;
  const commit = await setting.commit(changes, base);
  const protection = protectionBy(options.globs ?? []);
  const allowed = new Set(options.allowed ?? []);
  return { given: commit, ...(await restoreProtected({ mirror, base, commit, protection, allowed })) };
}

/** What differs from the base after restoring. */
async function left(changes: Files, options: Parameters<typeof restore>[1] = {}) {
  const { commit } = await restore(changes, options);
  const entries = await setting.mirror.compareTrees(options.base ?? setting.head, commit);
  return entries.map(({ path, file }) => (file === null ? `-${path}` : path));
}

describe('a patch that breaks the code does not pass', () => {
  it.each<[string, Files]>([
    ['by weakening the test', { 'test/sum.test.js': toothless }],
    ['by removing the test', { 'test/sum.test.js': null }],
    ['by moving the test away', { 'test/sum.test.js': null, 'docs/sum.txt': sumTest }],
    ['by putting a file in the place of the tests', { 'test/sum.test.js': null, test: 'nothing here\n' }],
    ['by another test script', { 'package.json': manifest('exit 0') }],
    ['by a broken package.json', { 'package.json': '{ "type": "module", "scripts": { "test": "exit 0" }' }],
    ['by another test script in disguise', { 'package.json': `\uFEFF${manifest('true')}` }],
  ])('%s', async (_, weakening) => {
    const { commit } = await restore({ ...broken, ...weakening });
    const { passed, newFailures } = await setting.verifier.judge(setting.head, commit, setting.context());
    expect({ passed, newFailures }).toEqual({ passed: false, newFailures: ['test:test/sum.test.js:adds'] });
  });

  it('unless its row names the test', async () => {
    const changes = { ...broken, 'test/sum.test.js': toothless };
    const { commit, given } = await restore(changes, { allowed: ['test/sum.test.js'] });
    expect(commit).toBe(given);
    expect((await setting.verifier.judge(setting.head, commit, setting.context())).passed).toBe(true);
  });
});

describe('restoring', () => {
  it('leaves a patch alone that changes nothing protected', async () => {
    const { commit, given, restored } = await restore(broken);
    expect({ commit, restored }).toEqual({ commit: given, restored: [] });
  });

  it('gives the same commit each time, and says what was restored', async () => {
    const changes = { ...broken, 'test/sum.test.js': toothless, Makefile: 'test:\n' };
    const [one, two] = [await restore(changes), await restore(changes)];
    expect(one).toEqual(two);
    expect(one.restored).toEqual(['Makefile', 'test/sum.test.js']);
  });

  it.each<[string, Files, string[]]>([
    ['keeps new tests', { 'test/more.test.js': toothless }, ['test/more.test.js']],
    ['removes a new configuration of a runner', { 'vitest.config.ts': '', '.mocharc.json': '{}' }, []],
    ['removes it among the tests, too', { 'test/jest.config.js': '', 'tests/pytest.ini': '' }, []],
    ['removes what acts on other tests', { 'test/conftest.py': '', 'src/__mocks__/sum.js': '' }, []],
    ['restores a changed one', { Makefile: 'test:\n\ttrue\n', 'src/a.js': 'a' }, ['src/a.js']],
    ['restores a removed one', { Makefile: null }, []],
    ['removes what would be imported in the place of a package', { 'node_modules/assert/index.js': '' }, []],
    [
      'restores a package.json among the tests as a whole',
      { 'test/fixtures/old/package.json': '{"name":"changed"}' },
      [],
    ],
    [
      'keeps a new one without its runner settings',
      { 'test/fixtures/new/package.json': '{"name":"new","mocha":{}}', 'test/b/package.json': '{"jest":{}}' },
      ['test/b/package.json', 'test/fixtures/new/package.json'],
    ],
    ['removes a lockfile', { 'package-lock.json': '{}' }, []],
    ['restores what only people change', { '.github/workflows/ci.yml': 'on: push\n' }, []],
    ['makes room for a file', { Makefile: null, 'Makefile/a': 'a', 'Makefile/b/c': 'c' }, []],
  ])('%s', async (_, changes, remaining) => {
    expect(await left(changes)).toEqual(remaining);
  });

  it('restores what the repository protects, whatever a row names', async () => {
    const changes = { 'docs/rules.md': 'no rules\n', 'docs/more.md': 'more\n' };
    expect(await left(changes, { globs: ['docs/'], allowed: ['docs/rules.md'] })).toEqual([]);
  });

  it('restores scripts and runner settings of a package.json, and keeps the rest', async () => {
    const json = (value: object) => JSON.stringify(value);
    const base = await setting.commit({
      'package.json': json({ name: 'a', scripts: { test: 'jest' }, jest: { bail: true }, dependencies: {} }),
    });
    const { commit, restored } = await restore(
      {
        'package.json': json({
          ...{ name: 'b', scripts: { test: 'true' }, mocha: { spec: [] }, dependencies: { c: '1.0.0' } },
          exports: './src/sum.js',
        }),
        'packages/new/package.json': json({ name: 'new', jest: { testMatch: [] } }),
      },
      { base },
    );
    const read = async (path: string) => JSON.parse((await setting.read(commit, path)) ?? 'null') as unknown;
    expect({
      restored,
      root: await read('package.json'),
      added: await read('packages/new/package.json'),
    }).toEqual({
      restored: ['package.json', 'packages/new/package.json'],
      root: {
        name: 'b',
        scripts: { test: 'jest' },
        jest: { bail: true },
        dependencies: { c: '1.0.0' },
        exports: './src/sum.js',
      },
      added: { name: 'new' },
    });
  });
});
