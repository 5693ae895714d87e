import { readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { harvestLimits, harvestUpper } from '../../../src/sandbox/harvest/harvest.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import type { TreeFile } from '../mirror/build-repository.ts';
import {
  createOverlaySetting,
  mayMount,
  type OverlaySetting,
  type Step,
  withContents,
} from './overlay-setting.ts';
import { createPatchSetting, never, type PatchSetting } from './patch-setting.ts';

/** Each takes some 0.1 s; more are worth it when any of this is changed. */
const runs = Number(process.env['PATCHFLEET_OVERLAY_RUNS'] ?? 40);
/** Before the test's own limit: a slow machine tries fewer. */
const interruptAfterTimeLimit = 3000 * runs;

let patches: PatchSetting;
let setting: OverlaySetting;
let snapshot: string;
let prepared: string;

const files: TreeFile[] = [
  { path: 'a', content: 'one\n' },
  { path: 'run', mode: '100755', content: '#!/bin/sh\n' },
  { path: 'link', mode: '120000', content: 'a' },
  { path: 'd/a', content: 'da\n' },
  { path: 'd/b', content: '' },
  { path: 'd/e/f', content: 'def\n' },
  { path: 'd/e/g/h', content: 'degh\n' },
  { path: 'd/link', mode: '120000', content: 'e' },
  { path: 'module', mode: '160000', content: '1'.repeat(40) },
  { path: '.gitignore', content: '*.log\nout/\n!keep.log\n' },
  { path: 'd/.gitignore', content: '/ignored\n' },
];

beforeAll(async () => {
  patches = await createPatchSetting();
  setting = await createOverlaySetting();
  const [commit = ''] = patches.commits(files);
  snapshot = await patches.snapshot(commit);
  prepared = await setting.layer({
    'node_modules/p/index.js': 'p\n',
    'node_modules/q': null,
    'd/made': 'by the setup\n',
    'd/e/out/x': 'x\n',
    'module/inner': 'inner\n',
  });
});
afterAll(async () => {
  await setting.end();
  await patches.end();
});

const path = fc.constantFrom(
  ...['a', 'run', 'link', 'd', 'd/a', 'd/b', 'd/e', 'd/e/f', 'd/e/g', 'd/e/g/h', 'd/link', 'module', 'new'],
  ...[
    'd/new',
    'new/x',
    'x.log',
    'keep.log',
    'out',
    'out/x',
    'd/ignored',
    'd/ignored/x',
    '.gitignore',
    '.git',
  ],
  ...['module/x', 'node_modules', 'node_modules/p', 'node_modules/p/index.js', 'node_modules/new', 'd/made'],
  ...[
    'd/e/out/x',
    'd/e/out',
    'new/.git',
    'git~1',
    'new\nline',
    '-rf',
    'd/A',
    'a/x',
    'link/x',
    'module/inner',
  ],
);
const content = fc.constantFrom('one\n', 'da\n', '', 'def\n', 'other\n', 'p\n', '\0');
const step: fc.Arbitrary<Step> = fc.oneof(
  ...(['write', 'append', 'swap'] as const).map((act) => fc.record({ do: fc.constant(act), path, content })),
  ...(['remove', 'again', 'mkdir', 'rmdir', 'parents', 'remove', 'again'] as const).map((act) =>
    fc.record({ do: fc.constant(act), path }),
  ),
  fc.record({ do: fc.constant('truncate'), path, number: fc.constantFrom(0, 2, 4, 20_000_000) }),
  fc.record({
    do: fc.constant('chmod'),
    path,
    number: fc.constantFrom(0o644, 0o755, 0o4755, 0o2644, 0, 0o600),
  }),
  fc.record({ do: fc.constant('times'), path, number: fc.constantFrom(0, 1_000_000_000) }),
  fc.record({ do: fc.constant('rename'), path, to: path }),
  fc.record({ do: fc.constant('rename'), path, to: path }),
  fc.record({ do: fc.constant('link'), path, to: path }),
  fc.record({ do: fc.constant('symlink'), path, to: fc.constantFrom('a', 'e', '/etc/passwd', '..') }),
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fifo'), path }) },
);

/** Does the same in an overlay and in a copy, and reads both. */
async function both(steps: readonly Step[], over: string | null) {
  const base = { snapshot, prepared: over };
  const [overlay, copy] = [await setting.overlay(base), await setting.copy(base)];
  try {
    const done = [await setting.act(overlay, steps), await setting.act(copy, steps)];
    const [ofOverlay, ofCopy] = [await overlay.harvest(never), await copy.harvest(never)];
    return {
      ...{ doneInOverlay: done[0], doneInCopy: done[1] },
      ...{ overlay: await withContents(ofOverlay), copy: await withContents(ofCopy) },
    };
  } finally {
    await overlay.remove();
    await copy.remove();
  }
}

describe.runIf(mayMount)('an overlay', () => {
  it('is read as a copy is, whatever was done to it', async () => {
    const seen = new Set<string>();
    const run = async (steps: Step[], over: boolean) => {
      const result = await both(steps, over ? prepared : null);
      expect({ done: result.doneInOverlay, harvest: result.overlay }).toEqual({
        done: result.doneInCopy,
        harvest: result.copy,
      });
      for (const entry of result.overlay as { kind: string; rule?: string }[])
        seen.add(entry.rule ?? entry.kind);
    };
    const steps = fc.array(step, { minLength: 1, maxLength: 14 });
    await fc.assert(fc.asyncProperty(steps, fc.boolean(), run), {
      ...{ numRuns: runs, endOnFailure: false, interruptAfterTimeLimit },
    });
    expect([...seen]).toEqual(expect.arrayContaining(['deleted', 'file']));
  });

  it('shows what was removed with a directory that was made again', async () => {
    const steps: Step[] = [
      { do: 'again', path: 'd' },
      { do: 'write', path: 'd/a', content: 'da\n' },
      { do: 'mkdir', path: 'd/e' },
    ];
    const { overlay, copy } = await both(steps, null);
    expect(overlay).toEqual([
      { kind: 'deleted', path: 'd/.gitignore' },
      { kind: 'deleted', path: 'd/b' },
      { kind: 'deleted', path: 'd/e/f' },
      { kind: 'deleted', path: 'd/e/g/h' },
      { kind: 'deleted', path: 'd/link' },
    ]);
    expect(copy).toEqual(overlay);
  });

  it('counts nothing that was touched and is as it was', async () => {
    const steps: Step[] = [
      { do: 'append', path: 'a', content: '' },
      { do: 'times', path: 'd/a', number: 0 },
      { do: 'chmod', path: 'd', number: 0o700 },
      { do: 'rename', path: 'run', to: 'moved' },
      { do: 'rename', path: 'moved', to: 'run' },
      { do: 'again', path: 'module' },
    ];
    const { doneInOverlay, overlay, copy } = await both(steps, null);
    expect(doneInOverlay).toEqual(steps.map(() => 'done'));
    expect([overlay, copy]).toEqual([[], []]);
  });

  it('leaves out what a setup prepared, changed or not, and takes what lies beside it', async () => {
    const steps: Step[] = [
      { do: 'write', path: 'node_modules/p/index.js', content: 'changed\n' },
      { do: 'write', path: 'node_modules/new', content: 'new\n' },
      { do: 'remove', path: 'd/made' },
      { do: 'write', path: 'd/beside', content: 'beside\n' },
    ];
    const { overlay, copy } = await both(steps, prepared);
    expect(overlay).toEqual([
      { kind: 'file', path: 'd/beside', executable: false, bytes: 7, content: 'beside\n' },
    ]);
    expect(copy).toEqual(overlay);
  });

  it('is bounded in what was made, not in what was touched', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `d/${index}`);
    const many = await setting.layer(Object.fromEntries(names.map((name) => [name, 'x\n'])));
    const workspace = await setting.overlay({ snapshot: many });
    const upper = join(setting.root, workspace.id, 'upper');
    const read = () => harvestUpper({ upper, snapshot: many }, never, { ...harvestLimits, entries: 20 });
    try {
      await setting.act(
        workspace,
        names.map((path) => ({ do: 'append', path, content: '' })),
      );
      expect(readdirSync(join(upper, 'd')).length).toBe(30);
      expect(await read()).toEqual([]);
      await setting.act(workspace, [{ do: 'mkdir', path: 'new' }]);
      await setting.act(
        workspace,
        names.map((_, index) => ({ do: 'mkdir', path: `new/${index}` })),
      );
      const reason = 'more than 20 files and directories were made';
      expect(await read()).toEqual([{ kind: 'refused', path: '.', rule: 'size', reason }]);
    } finally {
      await workspace.remove();
    }
  });

  it('is not read without what it lies over: what was removed would be lost', async () => {
    const layer = await setting.layer({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const workspace = await setting.overlay({ snapshot: layer });
    try {
      await setting.act(workspace, [{ do: 'remove', path: 'a.txt' }]);
      await rename(layer, `${layer}-aside`);
      await expect(workspace.harvest(never)).rejects.toMatchObject({ code: 'sandbox_died' });
    } finally {
      await workspace.remove();
    }
  });

  it('goes to a layer of its own, whose directories hide nothing of a snapshot', async () => {
    const workspace = await setting.overlay({ snapshot, prepared: null });
    const kept = `${setting.home}/kept`;
    await setting.act(workspace, [
      { do: 'mkdir', path: 'new' },
      { do: 'write', path: 'new/x', content: 'x\n' },
      { do: 'chmod', path: 'new/x', number: 0o4777 },
    ]);
    await workspace.keep(kept);
    await workspace.remove();
    const { overlay } = await both(
      [
        { do: 'append', path: 'new/x', content: 'y\n' },
        { do: 'write', path: 'a', content: '' },
      ],
      kept,
    );
    expect(overlay).toEqual([{ kind: 'file', path: 'a', executable: false, bytes: 0, content: '' }]);
    await removeTree(kept);
  });
});
