import { beforeEach, describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { protectionBy } from '../../../src/domain/protection.ts';
import { createIntegrator } from '../../../src/merging/integrate.ts';
import type { IntegrationRequest } from '../../../src/merging/integration-request.ts';
import type { Verifier } from '../../../src/merging/port.ts';
import { createGitSetting, type Files, type GitSetting } from './merging-setting.ts';

/** Merging with a real git; verifying is a question to the tree, so that many cases are cheap. */

const lines = (change: Record<number, string> = {}) =>
  Array.from({ length: 12 }, (_, at) => `${change[at] ?? `line ${at}`}\n`).join('');
const files = {
  'a.txt': lines(),
  'test/a.test.js': 'true\n',
  ...Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`src/${at}.txt`, 'good\n'])),
};

let setting: GitSetting;
beforeEach(async () => {
  setting = await createGitSetting(files);
  return async () => await setting.end();
});

/** Files that make the checks fail, each by itself; and groups that do together. */
let red: string[][] = [];
let judged: string[] = [];
const kept = new Set<string>();
beforeEach(() => {
  red = [];
  judged = [];
  kept.clear();
});

const verifier = (): Verifier => ({
  report: async () => await Promise.reject(new Error('not asked for')),
  async judge(base, commit, context) {
    judged.push(commit);
    const tree = await setting.mirror.treeOf(commit);
    if (!kept.has(tree)) context.onRun?.();
    kept.add(tree);
    const changed = new Set((await setting.mirror.compareTrees(base, commit)).map(({ path }) => path));
    const newFailures = red
      .filter((group) => group.every((path) => changed.has(path)))
      .map((group) => `test:${group.join('+')}`);
    return { passed: newFailures.length === 0, newFailures, knownFailures: [], flaky: [] };
  },
});

function integrate(change: Partial<IntegrationRequest> & Pick<IntegrationRequest, 'patches'>, max?: number) {
  const integrator = createIntegrator({
    verifier: verifier(),
    ...(max === undefined ? {} : { maxVerifications: max }),
  });
  return integrator.integrate({
    mirror: setting.mirror,
    targetRef: 'main',
    failedRows: [],
    onPartial: 'publish_rest',
    protection: protectionBy([]),
    namedBy: () => [],
    message: (rows) => `rows ${rows.join(' ')}\n`,
    context: {
      taskId: 'task',
      attemptId: 'attempt',
      repository: { id: 1, mirrorDir: setting.mirror.dir },
      kind: { config: repositoryConfigSchema.parse({}), trusted: setting.head },
      commands: [{ name: 'test', argv: ['test'], cwd: '' }],
      commandMs: 1000,
      signal: new AbortController().signal,
      onProgress: () => {},
    },
    ...change,
  });
}

const eight = () =>
  Promise.all(Array.from({ length: 8 }, (_, at) => setting.patch(at, { [`src/${at}.txt`]: 'new\n' })));
const verdict = { passed: true, newFailures: [], knownFailures: [], flaky: [] };

describe('patches that fit', () => {
  it('become one commit on the target, in the order of their rows', async () => {
    const patches = [
      await setting.patch(2, { 'a.txt': lines({ 11: 'end' }) }),
      await setting.patch(0, { 'a.txt': lines({ 0: 'start' }) }),
      await setting.patch(1, { 'b.txt': 'new\n', 'src/0.txt': null }),
    ];
    const candidate = await integrate({ patches });
    const commit = candidate.commit ?? '';
    expect(candidate).toEqual({
      targetSha: setting.head,
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      tree: await setting.mirror.treeOf(commit),
      merged: [0, 1, 2],
      leftOut: [],
      verdict,
      verifications: 1,
    });
    expect(await setting.mirror.compareTrees(setting.head, commit)).toMatchObject([
      { path: 'a.txt' },
      { path: 'b.txt', before: null },
      { path: 'src/0.txt', file: null },
    ]);
    expect(await setting.read(commit, 'a.txt')).toBe(lines({ 0: 'start', 11: 'end' }));
    expect(await setting.mirror.mergeBase(commit, setting.head)).toBe(setting.head);
    expect(await integrate({ patches: patches.toReversed() })).toEqual({ ...candidate, verifications: 0 });
  });

  it('are merged onto a target that moved on', async () => {
    const patches = [await setting.patch(0, { 'a.txt': lines({ 0: 'start' }) })];
    setting.push(files, { ...files, 'a.txt': lines({ 11: 'meanwhile' }) });
    const { commit, targetSha, merged } = await integrate({ patches });
    expect(targetSha).not.toBe(setting.head);
    expect(merged).toEqual([0]);
    expect(await setting.read(commit ?? '', 'a.txt')).toBe(lines({ 0: 'start', 11: 'meanwhile' }));
  });

  it('bring back nothing that a force-push dropped', async () => {
    const before = await setting.commit({ 'dropped.txt': 'to be dropped\n' });
    const patches = [await setting.patch(0, { 'b.txt': 'new\n' }, before)];
    setting.push({ ...files, 'c.txt': 'instead\n' });
    const { commit, targetSha } = await integrate({ patches });
    expect(await setting.mirror.compareTrees(targetSha, commit ?? '')).toMatchObject([{ path: 'b.txt' }]);
  });

  it('that add nothing are neither merged nor left out', async () => {
    const same = { 'b.txt': 'new\n' };
    const patches = [await setting.patch(0, same), await setting.patch(1, same), await setting.patch(2, {})];
    expect(await integrate({ patches })).toMatchObject({ merged: [0], leftOut: [], verifications: 1 });
    const nothing = await integrate({ patches: [await setting.patch(0, {})] });
    expect(nothing).toMatchObject({ commit: null, tree: null, merged: [], leftOut: [], verdict: null });
    expect(judged).toHaveLength(1);
  });
});

describe('hundreds of patches', () => {
  it('that nobody else touches are one edit of one tree: git merges nothing, however they were made', async () => {
    const paths = Array.from({ length: 200 }, (_, at) => `new/${at}.txt`);
    const made = await setting.patch(0, Object.fromEntries(paths.map((path) => [path, `${path}\n`])));
    const after = await setting.patch(0, { 'new/7.txt': 'changed\n' }, made.commit);
    const patches = [
      ...made.entries.map((entry, row) => ({ ...made, subtaskId: `subtask-${row}`, row, entries: [entry] })),
      { ...after, subtaskId: 'subtask-200', row: 200 },
    ];
    setting.push(files, { ...files, 'a.txt': lines({ 5: 'theirs' }) });
    const calls: string[] = [];
    const mirror = new Proxy(setting.mirror, {
      get: (of, name) => {
        const member: unknown = Reflect.get(of, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          calls.push(String(name));
          return Reflect.apply(member, of, args) as unknown;
        };
      },
    });
    const { merged, tree, targetSha } = await integrate({ patches, mirror });
    expect(merged).toEqual(Array.from({ length: 201 }, (_, row) => row));
    const expected = await setting.commit(
      { ...Object.fromEntries(paths.map((path) => [path, `${path}\n`])), 'new/7.txt': 'changed\n' },
      targetSha,
    );
    expect(tree).toBe(await setting.mirror.treeOf(expected));
    expect(calls).toEqual([
      'fetchBranch',
      'treesOf',
      'differences',
      'writeTree',
      ...['commitTree', 'compareTrees'],
      'commitTree',
    ]);
  });
});

describe('patches in conflict', () => {
  it('with the target are left out, naming the files', async () => {
    const patches = [
      await setting.patch(0, { 'a.txt': lines({ 5: 'mine' }) }),
      await setting.patch(1, { 'b.txt': 'new\n' }),
    ];
    setting.push(files, { ...files, 'a.txt': lines({ 5: 'theirs' }) });
    expect(await integrate({ patches })).toMatchObject({
      merged: [1],
      leftOut: [
        {
          subtaskId: 'subtask-0',
          row: 0,
          code: 'conflict',
          reason: 'conflicts with main in a.txt',
          against: null,
        },
      ],
    });
  });

  it('with one another: the later is left out, naming the earlier', async () => {
    const patches = [
      await setting.patch(0, { 'b.txt': 'new\n' }),
      await setting.patch(1, { 'a.txt': lines({ 5: 'one' }) }),
      await setting.patch(2, { 'a.txt': lines({ 5: 'two' }) }),
    ];
    expect(await integrate({ patches })).toMatchObject({
      merged: [0, 1],
      leftOut: [
        {
          row: 2,
          code: 'conflict',
          reason: 'conflicts with row 1 (part 1) in a.txt',
          against: 'subtask-1',
        },
      ],
    });
  });

  it('with several together: the last of them is named', async () => {
    // Git follows a file to its new name while it is half the same: not any more when both have changed it.
    const long = (changed: readonly number[]) =>
      Array.from(
        { length: 20 },
        (_, at) => `${changed.includes(at) ? 'changed' : 'the very same'} line ${at}\n`,
      ).join('');
    const base = await setting.commit({ 'old.txt': long([]) });
    setting.push(files, { ...files, 'old.txt': long([]) });
    const moved = [0, 1, 2, 3, 4, 5, 6];
    const patches = [
      await setting.patch(0, { 'src/0.txt': 'new\n' }, base),
      await setting.patch(1, { 'old.txt': null, 'new.txt': long(moved) }, base),
      await setting.patch(2, { 'old.txt': long([9, 10, 11, 12, 13]) }, base),
      await setting.patch(3, { 'src/3.txt': 'new\n' }, base),
      await setting.patch(4, { 'old.txt': long([17]) }, base),
    ];
    const without = await integrate({ patches: patches.filter(({ row }) => row !== 2) });
    expect(await setting.read(without.commit ?? '', 'new.txt')).toBe(long([...moved, 17]));
    expect(await integrate({ patches })).toMatchObject({
      merged: [0, 1, 2, 3],
      leftOut: [
        {
          row: 4,
          code: 'conflict',
          reason: 'conflicts with row 2 (part 2) in old.txt',
          against: 'subtask-2',
        },
      ],
    });
  });

  it('at their place, but made anew on a candidate with later ones, go in behind all others', async () => {
    const later = await setting.patch(1, { 'a.txt': lines({ 5: 'one' }) });
    const anew = await setting.patch(0, { 'a.txt': lines({ 5: 'one and more' }) }, later.commit);
    const { commit, merged, leftOut } = await integrate({ patches: [anew, later] });
    expect({ merged, leftOut }).toEqual({ merged: [0, 1], leftOut: [] });
    expect(await setting.read(commit ?? '', 'a.txt')).toBe(lines({ 5: 'one and more' }));
  });

  it('by themselves but not behind the one they build upon are merged with it', async () => {
    const one = await setting.patch(0, { 'a.txt': `${lines()}one\n`, 'config.txt': 'one\n' });
    const two = await setting.patch(
      1,
      { 'a.txt': `${lines()}one\ntwo\n`, 'config.txt': 'one\ntwo\n' },
      one.commit,
    );
    const { commit, merged, leftOut } = await integrate({ patches: [one, two] });
    expect({ merged, leftOut }).toEqual({ merged: [0, 1], leftOut: [] });
    expect(await setting.read(commit ?? '', 'a.txt')).toBe(`${lines()}one\ntwo\n`);
    red = [['config.txt']];
    expect(await integrate({ patches: [one, two] })).toMatchObject({
      commit: null,
      leftOut: [
        { row: 0, code: 'verification' },
        { row: 1, code: 'conflict' },
      ],
    });
  });

  it('with a culprit have their chance once the culprit is out', async () => {
    const patches = [
      await setting.patch(0, { 'a.txt': lines({ 5: 'one' }), 'src/0.txt': 'new\n' }),
      await setting.patch(1, { 'a.txt': lines({ 5: 'two' }) }),
    ];
    red = [['src/0.txt']];
    expect(await integrate({ patches })).toMatchObject({
      merged: [1],
      leftOut: [{ row: 0, code: 'verification', reason: 'with it, these fail: test:src/0.txt' }],
    });
  });
});

describe('a red candidate', () => {
  it('loses its culprits, by the tests that fail with them', async () => {
    red = [['src/2.txt'], ['src/5.txt']];
    const candidate = await integrate({ patches: await eight() });
    expect(candidate).toMatchObject({
      merged: [0, 1, 3, 4, 6, 7],
      leftOut: [
        { row: 2, code: 'verification', reason: 'with it, these fail: test:src/2.txt' },
        { row: 5, code: 'verification', reason: 'with it, these fail: test:src/5.txt' },
      ],
      verdict,
    });
    expect(candidate.verifications).toBeLessThanOrEqual(1 + 2 * (3 + 2));
  });

  it('loses the later of two that fail only together', async () => {
    red = [['src/1.txt', 'src/6.txt']];
    expect(await integrate({ patches: await eight() })).toMatchObject({
      merged: [0, 1, 2, 3, 4, 5, 7],
      leftOut: [{ row: 6, code: 'verification', reason: 'with it, these fail: test:src/1.txt+src/6.txt' }],
    });
  });

  it('of which nothing is green is not published, and says why', async () => {
    red = [['src/3.txt']];
    expect(await integrate({ patches: [await setting.patch(0, { 'src/3.txt': 'new\n' })] })).toEqual({
      targetSha: setting.head,
      commit: null,
      tree: null,
      merged: [],
      leftOut: [
        {
          subtaskId: 'subtask-0',
          row: 0,
          code: 'verification',
          reason: 'with it, these fail: test:src/3.txt',
          against: null,
        },
      ],
      verdict: { passed: false, newFailures: ['test:src/3.txt'], knownFailures: [], flaky: [] },
      verifications: 1,
    });
  });

  it('whose culprits take too long to find is not published', async () => {
    red = Array.from({ length: 8 }, (_, at) => [`src/${at}.txt`]);
    const candidate = await integrate({ patches: await eight() }, 5);
    expect(candidate).toMatchObject({ commit: null, merged: [], verifications: 5 });
    expect(candidate.leftOut.map(({ row, code }) => [row, code])).toEqual(
      Array.from({ length: 8 }, (_, at) => [at, 'undecided']),
    );
  });

  it('whose culprits take too long to find loses all that has not passed by then', async () => {
    red = [['src/5.txt'], ['src/6.txt'], ['src/7.txt']];
    const candidate = await integrate({ patches: await eight() }, 4);
    expect(candidate).toMatchObject({ merged: [0, 1, 2, 3, 4], verdict, verifications: 4 });
    expect(candidate.leftOut.map(({ row, code }) => [row, code])).toEqual(
      [5, 6, 7].map((row) => [row, 'undecided']),
    );
    expect(candidate.leftOut[2]?.reason).toContain('it was not found in time whether this one is at fault');
    const whole = await integrate({ patches: await eight(), onPartial: 'all_or_nothing' }, 4);
    expect(whole).toMatchObject({ commit: null, merged: [] });
  });

  it.each([[[0, 1, 2]], [[61, 62, 63]], [[21, 42, 63]], [[0, 31, 32]]])(
    'of 64 with %j bad is cleaned in 3 log2(64) + 4 verifications',
    async (bad) => {
      const names = Array.from({ length: 64 }, (_, at) => `many/${at}.txt`);
      const patches = await Promise.all(names.map((name, at) => setting.patch(at, { [name]: 'new\n' })));
      red = bad.map((at) => [`many/${at}.txt`]);
      const { leftOut, merged, verifications } = await integrate({ patches });
      expect(leftOut.map(({ row }) => row)).toEqual(bad);
      expect(merged).toHaveLength(61);
      expect(judged.length).toBe(verifications);
      expect(judged.length).toBeLessThanOrEqual(3 * 6 + 4);
    },
  );

  it('is verified with the protected files of the target, and published as it was verified', async () => {
    const patches = [await setting.patch(0, { 'src/0.txt': 'new\n', 'test/a.test.js': 'weakened\n' })];
    const { commit, tree } = await integrate({ patches });
    expect(await setting.read(judged[0] ?? '', 'test/a.test.js')).toBe('true\n');
    expect(await setting.read(commit ?? '', 'test/a.test.js')).toBe('true\n');
    expect(await setting.mirror.treeOf(judged[0] ?? '')).toBe(tree);
    await integrate({ patches, namedBy: () => ['test/a.test.js'] });
    expect(await setting.read(judged[1] ?? '', 'test/a.test.js')).toBe('weakened\n');
  });
});

describe('all or nothing', () => {
  const failed = { subtaskId: 'subtask-9', row: 9, code: 'turns_exhausted', reason: 'no end', against: null };

  it.each<[string, string[][], Files, number]>([
    ['a conflict', [], { 'a.txt': lines({ 5: 'mine' }) }, 0],
    ['a red patch', [['src/7.txt']], { 'src/7.txt': 'new\n' }, 2],
  ])('publishes nothing after %s', async (_, groups, changes, verifications) => {
    red = groups;
    const patches = [await setting.patch(0, { 'b.txt': 'b\n' }), await setting.patch(1, changes)];
    setting.push(files, { ...files, 'a.txt': lines({ 5: 'theirs' }) });
    const candidate = await integrate({ patches, onPartial: 'all_or_nothing' });
    expect(candidate).toMatchObject({ commit: null, tree: null, merged: [], verifications });
    expect(candidate.leftOut.map(({ row }) => row)).toEqual([1]);
  });

  it('publishes nothing when a row failed, and the rest without it', async () => {
    const patches = [await setting.patch(0, { 'b.txt': 'b\n' })];
    expect(await integrate({ patches, failedRows: [failed], onPartial: 'all_or_nothing' })).toMatchObject({
      commit: null,
      leftOut: [failed],
      verifications: 0,
    });
    expect(await integrate({ patches, failedRows: [failed] })).toMatchObject({
      merged: [0],
      leftOut: [failed],
    });
    expect(await integrate({ patches, onPartial: 'all_or_nothing' })).toMatchObject({
      merged: [0],
      leftOut: [],
    });
  });
});

it('a branch that is gone is said', async () => {
  const patches = [await setting.patch(0, { 'b.txt': 'b\n' })];
  await expect(integrate({ patches, targetRef: 'gone' })).rejects.toMatchObject({
    code: 'github_refused',
    detail: 'the branch gone is gone: nothing to merge into',
  });
});
