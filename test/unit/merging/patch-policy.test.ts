import { describe, expect, it } from 'vitest';
import type { PatchEntry } from '../../../src/domain/patch.ts';
import { pathGlob } from '../../../src/domain/path-glob.ts';
import { changesScripts, protectedPaths } from '../../../src/domain/protected-paths.ts';
import { judgePatch, type Manifests, type PatchPolicy } from '../../../src/merging/patch-policy.ts';

const file = { mode: '100644', blob: 'b'.repeat(40), bytes: 10 } as const;
const before = { mode: '100644', blob: 'a'.repeat(40) };
const changed = (path: string, more: Partial<PatchEntry> = {}): PatchEntry => ({
  path,
  file,
  before,
  ...more,
});
const policy = (more: Partial<PatchPolicy> = {}): PatchPolicy => ({
  writes: ['**'],
  treePaths: [],
  protectedGlobs: [],
  checkFiles: new Set(),
  maxEntries: 100,
  maxBytes: 1000,
  ...more,
});
const rules = (entries: readonly PatchEntry[], more: Partial<PatchPolicy> = {}, manifests?: Manifests) =>
  judgePatch(entries, policy(more), manifests ?? new Map()).map(({ rule, path }) => [rule, path]);

describe('scope', () => {
  const treePaths = ['app/[id]/page.tsx', 'app/i/page.tsx', 'app/a(b)/x.ts', 'src/a.ts'];
  it.each([
    [['src/a.ts'], 'src/a.ts', true],
    [['src/a.ts'], 'src/b.ts', false],
    [['src/**'], 'src/deep/.hidden', true],
    [['src/'], 'src/deep/x', true],
    [['src/*'], 'src/deep/x', false],
    [['app/[id]/page.tsx'], 'app/[id]/page.tsx', true],
    [['app/[id]/page.tsx'], 'app/i/page.tsx', false],
    [['app/[id]/**'], 'app/[id]/new.tsx', true],
    [['app/[id]/**'], 'app/i/page.tsx', false],
    [['app/a(b)/*.ts'], 'app/a(b)/y.ts', true],
    [['app/[ij]/page.tsx'], 'app/i/page.tsx', true],
    [['app/[ij]/page.tsx'], 'app/j/page.tsx', true],
    [['new/[id].ts'], 'new/[id].ts', true],
    [['src/**'], 'src/new\nline', true],
    [['!src/**'], 'other', false],
    [[], 'src/a.ts', false],
    [[''], 'src/a.ts', false],
  ])('%j lets %s be written: %s', (writes, path, allowed) => {
    expect(rules([changed(path)], { writes, treePaths })).toEqual(allowed ? [] : [['scope', path]]);
  });

  it('counts for removed files as for others', () => {
    expect(rules([changed('x', { file: null })], { writes: ['y'] })).toEqual([['scope', 'x']]);
  });
});

describe('protected files', () => {
  it.each([
    ...[
      'test/a.ts',
      'src/a.test.ts',
      'pkg/x/__tests__/deep/y.js',
      'conftest.py',
      'a_test.go',
      'T/fooTest.java',
    ],
    ...['vitest.config.ts', 'a/jest.config.cjs', 'Makefile', 'makefile', 'pyproject.toml', 'tsconfig.json'],
    ...[
      'test.js',
      'lib/test.mjs',
      'sum-test.cjs',
      'test-sum.js',
      'app/tests.py',
      'testsum.py',
      'src/setupTests.ts',
    ],
    ...[
      'jest.unit.config.js',
      'vitest.e2e.config.ts',
      'vitest-setup.ts',
      'pytest.toml',
      '.env.test',
      'x.snapshot',
    ],
    ...['go.mod', 'requirements-dev.txt', 'package-lock.json', 'sub/yarn.lock', 'Cargo.lock', '.npmrc'],
  ])('%s is for rows that name it alone', (path) => {
    expect(rules([changed(path)])).toEqual([['protected', path]]);
    expect(rules([changed(path)], { writes: [path] })).toEqual([]);
    expect(rules([changed(path, { file: null })])).toEqual([['protected', path]]);
  });

  it.each([
    ...[
      '.github/workflows/ci.yml',
      '.github/CODEOWNERS',
      '.GITHUB/x',
      'AGENTS.md',
      'sub/CLAUDE.md',
      'agents.MD',
    ],
    ...[
      '.cursor/rules/x.mdc',
      '.cursorrules',
      'GEMINI.md',
      '.github/copilot-instructions.md',
      'patchfleet.yml',
    ],
    ...['.github/patchfleet.yml', '.gitlab-ci.yml', '.husky/pre-commit', '.claude/settings.json'],
  ])('%s is for no row, named or not', (path) => {
    expect(rules([changed(path)], { writes: [path] })).toEqual([['protected', path]]);
  });

  it.each([
    'src/a.ts',
    'README.md',
    'src/contest.ts',
    'src/latest.ts',
    'docs/testing.md',
    'attest/a.ts',
    'src/contest.js',
    'docs/jest.md',
    'src/testing.ts',
  ])('%s is not protected', (path) => expect(rules([changed(path)])).toEqual([]));

  it('has those that the checks run by name', () => {
    const checkFiles = new Set(['scripts/run.mjs']);
    expect(rules([changed('scripts/run.mjs'), changed('scripts/x.mjs')], { checkFiles })).toEqual([
      ['protected', 'scripts/run.mjs'],
    ]);
    expect(rules([changed('scripts/run.mjs')], { checkFiles, writes: ['scripts/run.mjs'] })).toEqual([]);
  });

  it('has those of the repository’s own file as well', () => {
    expect(rules([changed('golden/a')], { protectedGlobs: ['golden/**'], writes: ['golden/a'] })).toEqual([
      ['protected', 'golden/a'],
    ]);
  });

  it('is written in globs that all can match something', () => {
    for (const { globs } of Object.values(protectedPaths)) {
      for (const glob of globs) {
        const sample = glob.replaceAll('**/', 'x/').replaceAll('**', 'x/y').replaceAll('*', 'x');
        expect([glob, pathGlob(glob, { nocase: true })(sample)]).toEqual([glob, true]);
      }
    }
  });

  it.each([
    [
      '{"name":"a","scripts":{"test":"x"}}',
      '{"scripts":{"test":"x"},"name":"b","dependencies":{"y":"1"}}',
      false,
    ],
    ['{"scripts":{"test":"x","a":"1"}}', '{"scripts":{"a":"1","test":"x"}}', false],
    ['{"scripts":{"test":"x"}}', '{"scripts":{"test":"true"}}', true],
    ['{"scripts":{"test":"x"}}', '{"scripts":{"test":"x","pretest":"rm x"}}', true],
    ['{"scripts":{"test":"x"}}', '{}', true],
    ['{}', '{"jest":{"testMatch":[]}}', true],
    ['{}', '{"overrides":{"vitest":"npm:nothing"}}', true],
    ['{"scripts":{}}', 'not json', true],
    ['not json', '{"scripts":{}}', true],
    ['not json', 'not json', false],
    ['{}', '[]', true],
    ['\ufeff{"scripts":{"a":"1"}}', '{"scripts":{"a":"1"}}', false],
    [null, '{"name":"a"}', false],
    [null, '{"scripts":{"test":"x"}}', true],
    ['{"scripts":{"test":"x"}}', null, true],
    ['{"name":"a"}', null, false],
  ])('package.json from %s to %s changes what is run: %s', (old, now, protectedIt) => {
    expect(changesScripts(old, now)).toBe(protectedIt);
    const manifests = new Map([['p/package.json', { before: old, after: now }]]);
    const expected = protectedIt ? [['protected', 'p/package.json']] : [];
    expect(rules([changed('p/package.json')], {}, manifests)).toEqual(expected);
    expect(rules([changed('p/package.json')], { writes: ['p/package.json'] }, manifests)).toEqual([]);
  });

  it('takes a package.json whose content is not known for one that changes scripts', () => {
    expect(rules([changed('package.json')])).toEqual([['protected', 'package.json']]);
  });
});

describe('kinds of files and amounts', () => {
  it('names everything that is wrong, all at once, in order', () => {
    const entries = [
      changed('.gitmodules'),
      changed('a.sh', { file: { ...file, mode: '100755' } }),
      changed('b.sh', { file: { ...file, mode: '100755' }, before: null }),
      changed('link', { before: { mode: '120000', blob: before.blob } }),
      changed('link2', { before: { mode: '120000', blob: before.blob }, file: null }),
      changed('module', { before: { mode: '160000', blob: before.blob } }),
      changed('other/test/x'),
    ];
    const writes = entries.slice(0, -1).map(({ path }) => path);
    expect(judgePatch(entries, policy({ writes, maxEntries: 3, maxBytes: 20 }), new Map())).toEqual([
      { path: '.gitmodules', rule: 'submodule', reason: 'changes what submodules are' },
      { path: 'a.sh', rule: 'mode', reason: 'changes the mode of an existing file from 100644 to 100755' },
      { path: 'link', rule: 'symlink', reason: 'replaces a symlink' },
      { path: 'link2', rule: 'symlink', reason: 'removes a symlink' },
      { path: 'module', rule: 'submodule', reason: 'changes a submodule' },
      { path: 'other/test/x', rule: 'scope', reason: 'is not among the files this subtask may write' },
      {
        path: 'other/test/x',
        rule: 'protected',
        reason: 'is one of the tests, which only a subtask that names the file may change',
      },
      { path: '.', rule: 'size', reason: '7 files are changed, 3 are allowed' },
      { path: '.', rule: 'size', reason: '60 bytes, 20 are allowed' },
    ]);
  });
});
