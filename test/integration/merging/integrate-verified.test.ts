import { afterAll, beforeAll, expect, it } from 'vitest';
import { protectionBy } from '../../../src/domain/protection.ts';
import { createIntegrator } from '../../../src/merging/integrate.ts';
import type { MergePatch } from '../../../src/merging/port.ts';
import { never } from '../sandbox/docker-setting.ts';
import { createMergingSetting, type MergingSetting, manifest } from './merging-setting.ts';

/** The whole of it: a real git, real containers, a real database. */

const testOf = (at: number) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { value } from '../src/${at}.js';
test('${at} keeps its value', () => assert.equal(value(), ${at}));
`;
const source = (at: number, body: string) => `export function value() {\n  ${body}\n}\n// part ${at}\n`;
const count = 8;
const files = Object.fromEntries([
  ['package.json', manifest('node --test')],
  ['shared.txt', 'one\n'],
  ...Array.from({ length: count }, (_, at) => [`src/${at}.js`, source(at, `return ${at};`)]),
  ...Array.from({ length: count }, (_, at) => [`test/${at}.test.js`, testOf(at)]),
]);

let setting: MergingSetting;
beforeAll(async () => {
  setting = await createMergingSetting(files);
});
afterAll(async () => await setting.end());

const integrate = (patches: MergePatch[]) =>
  createIntegrator({ verifier: setting.verifier }).integrate({
    mirror: setting.mirror,
    targetRef: 'main',
    patches,
    failedRows: [],
    onPartial: 'publish_rest',
    protection: protectionBy([]),
    namedBy: () => [],
    message: () => 'Candidate\n',
    context: setting.context(),
  });

it('one culprit among eight is found in few verifications, a conflict is left out, the rest is green', async () => {
  const patches = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const body = at === 5 ? `return ${at} + 1;` : `const same = ${at};\n  return same;`;
      // The culprit would pass its test if it were not restored.
      const more = at === 5 ? { 'test/5.test.js': "import 'node:test';\n" } : {};
      return await setting.patch(at, { [`src/${at}.js`]: source(at, body), ...more });
    }),
  );
  const rival = await setting.patch(count, { 'shared.txt': 'mine\n' });
  setting.push(files, { ...files, 'shared.txt': 'theirs\n' });

  setting.started();
  const candidate = await integrate([...patches, rival]);
  expect(candidate).toMatchObject({
    merged: [0, 1, 2, 3, 4, 6, 7],
    leftOut: [
      {
        row: 5,
        code: 'verification',
        reason: 'with it, these fail: test:test/5.test.js:5 keeps its value',
      },
      { row: 8, code: 'conflict', reason: 'conflicts with main in shared.txt' },
    ],
    verdict: { passed: true, newFailures: [], knownFailures: [], flaky: [] },
  });
  // Whole, its second run, the target, three halves of which some are red (run twice), the rest.
  expect(candidate.verifications).toBeLessThanOrEqual(3 + 2 * 3 + 1);
  expect(setting.started()).toBe(candidate.verifications);

  // The published tree is the verified one, on the target as it is.
  const commit = candidate.commit ?? '';
  expect(await setting.mirror.treeOf(commit)).toBe(candidate.tree);
  expect(await setting.read(commit, 'shared.txt')).toBe('theirs\n');
  expect(await setting.read(commit, 'test/5.test.js')).toBe(testOf(5));

  // Asked again, nothing is run: the reports are kept.
  expect(await integrate([...patches, rival])).toEqual({ ...candidate, verifications: 0 });
  expect(setting.started()).toBe(0);
});

it('a target that moved is verified itself, the candidate only where its tree is another one', async () => {
  const changed = (at: number) => ({ [`src/${at}.js`]: source(at, `return ${at} + 0;`) });
  setting.push(files);
  const base = (await setting.mirror.fetchBranch('main', never)) ?? '';
  const patches = [await setting.patch(0, changed(0), base), await setting.patch(1, changed(1), base)];
  const first = await integrate(patches);
  expect(first).toMatchObject({ merged: [0, 1], leftOut: [] });
  setting.started();

  // Another commit of the same files.
  setting.push(files, files);
  const same = await integrate(patches);
  expect(same.targetSha).not.toBe(first.targetSha);
  expect(same).toMatchObject({ tree: first.tree, merged: [0, 1], verifications: 0 });

  // What one of them does has come in by another way: what comes of it is the same.
  setting.push(files, { ...files, ...changed(0) });
  const taken = await integrate(patches);
  expect(taken).toMatchObject({ tree: first.tree, merged: [1], leftOut: [], verifications: 1 });
  expect(setting.started()).toBe(1);

  setting.push(files, { ...files, 'shared.txt': 'meanwhile\n' });
  const moved = await integrate(patches);
  expect(moved).toMatchObject({ merged: [0, 1], leftOut: [], verifications: 2 });
  expect(moved.tree).not.toBe(first.tree);
  expect(setting.started()).toBe(2);
});
