import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PatchPolicy } from '../../../src/merging/patch-policy.ts';
import { readPatch } from '../../../src/merging/read-patch.ts';
import type { HarvestEntry } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import { createPatchSetting, never, type PatchSetting } from './patch-setting.ts';

let setting: PatchSetting;
let base: string;
beforeAll(async () => {
  setting = await createPatchSetting();
  [base = ''] = setting.commits([
    { path: 'package.json', content: '{"name":"a","scripts":{"test":"node --test"}}\n' },
    { path: 'src/a.js', content: 'a\n' },
    { path: 'test/a.test.js', content: 'test\n' },
  ]);
});
afterAll(async () => await setting.end());

const policyOf = (writes: string[]): PatchPolicy => ({
  writes,
  treePaths: ['package.json', 'src/a.js', 'test/a.test.js'],
  protectedGlobs: [],
  checkFiles: new Set(),
  maxEntries: 100,
  maxBytes: 1 << 20,
});

/** What an agent with these tools leaves behind, read under the scope given. */
async function attempt(files: Record<string, string>, writes: string[], more: HarvestEntry[] = []) {
  const sandbox = await createLocalSandbox({ snapshotDir: await setting.snapshot(base) });
  try {
    for (const [path, content] of Object.entries(files)) {
      await sandbox.write(path, content, { signal: never });
    }
    const options = { mirror: setting.mirror, baseCommit: base, message: 'made', signal: never };
    const harvest = [...(await sandbox.harvest(never)), ...more];
    return await readPatch(harvest, { ...options, policy: policyOf(writes) });
  } finally {
    await sandbox.close();
  }
}

describe('readPatch', () => {
  it('gives a patch on the base, the same for the same work', async () => {
    const work = () => attempt({ 'src/a.js': 'b\n', 'src/new/b.js': 'n' }, ['src/**']);
    const { patch, refusals } = await work();
    expect(refusals).toEqual([]);
    expect(patch).toEqual({
      baseCommit: base,
      tree: await setting.mirror.treeOf(patch?.commit ?? ''),
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      entries: [
        {
          path: 'src/a.js',
          file: { mode: '100644', blob: expect.any(String), bytes: 2 },
          before: { mode: '100644', blob: expect.any(String) },
        },
        { path: 'src/new/b.js', file: { mode: '100644', blob: expect.any(String), bytes: 1 }, before: null },
      ],
    });
    expect((await work()).patch).toEqual(patch);
    expect(await setting.mirror.isAncestor(base, patch?.commit ?? '')).toBe(true);
  });

  it.each([
    ['a dependency', '{"name":"a","dependencies":{"x":"1"},"scripts":{"test":"node --test"}}', []],
    ['the test script', '{"name":"a","scripts":{"test":"true"}}', ['protected']],
    [
      'a script that runs before',
      '{"name":"a","scripts":{"test":"node --test","pretest":"x"}}',
      ['protected'],
    ],
  ])('looks into package.json: %s', async (_, content, rules) => {
    const { patch, refusals } = await attempt({ 'package.json': content }, ['**']);
    expect(refusals.map(({ rule }) => rule)).toEqual(rules);
    expect(patch === null).toBe(rules.length > 0);
    const named = await attempt({ 'package.json': content }, ['package.json']);
    expect(named.refusals).toEqual([]);
  });

  it('names all that is wrong, of the harvest and of the policy, and gives no patch', async () => {
    const planted: HarvestEntry = { kind: 'refused', path: 'src/l', rule: 'symlink', reason: 'is a symlink' };
    const files = { 'src/a.js': 'b', 'test/a.test.js': 'weak', 'README.md': 'x', '.github/x.yml': 'x' };
    const { patch, refusals } = await attempt(files, ['src/**', 'test/**', '.github/**'], [planted]);
    expect(patch).toBe(null);
    expect(refusals.map(({ rule, path }) => [rule, path])).toEqual([
      ['symlink', 'src/l'],
      ['protected', '.github/x.yml'],
      ['scope', 'README.md'],
      ['protected', 'test/a.test.js'],
    ]);
  });

  it('fails when a file changes after it was seen', async () => {
    const sandbox = await createLocalSandbox({ snapshotDir: await setting.snapshot(base) });
    await sandbox.write('src/a.js', 'b', { signal: never });
    const harvest = await sandbox.harvest(never);
    writeFileSync(join(sandbox.workspace, 'src/a.js'), 'longer');
    const options = { mirror: setting.mirror, baseCommit: base, message: 'made', signal: never };
    await expect(readPatch(harvest, { ...options, policy: policyOf(['**']) })).rejects.toMatchObject({
      code: 'sandbox_died',
      detail: 'src/a.js could not be read: the file is no longer the one that was seen',
    });
    await sandbox.close();
  });
});
