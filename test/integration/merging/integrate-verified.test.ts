import { afterAll, beforeAll, expect, it } from 'vitest';
import { protectionBy } from '../../../src/domain/protection.ts';
import { createIntegrator } from '../../../src/merging/integrate.ts';
import type { MergePatch } from '../../../src/merging/port.ts';
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
}, 60_000);
afterAll(async () => await setting.end(), 60_000);

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
}, 120_000);
