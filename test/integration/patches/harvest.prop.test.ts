import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { harvestWorkspace } from '../../../src/sandbox/harvest/harvest.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import type { TreeFile } from '../mirror/build-repository.ts';
import { createSetting } from '../sandbox/docker-setting.ts';
import { applyInput, applyScript, change, type Edit } from './edits.ts';
import {
  createPatchSetting,
  never,
  type PatchSetting,
  toChanges,
  treeByApply,
  treeByGit,
} from './patch-setting.ts';

/** Each takes some 0.2 s of git; more are worth it when any of this is changed. */
const runs = Number(process.env['PATCHFLEET_PATCH_RUNS'] ?? 25);
/** Before the test's own limit: a slow machine tries fewer. */
const interruptAfterTimeLimit = 5000 * runs;

let setting: PatchSetting;
beforeAll(async () => {
  setting = await createPatchSetting();
});
afterAll(async () => await setting.end());

/** Trees by the product, by git from the directory, and by git from the patch; the commit twice. */
async function treesOf(commit: string, workspace: string, harvest: Parameters<typeof toChanges>[0]) {
  const { mirror, home } = setting;
  const tree = await mirror.writeTree(commit, await toChanges(harvest));
  const made = await mirror.commitTree(tree, [commit], 'made');
  const again = await mirror.commitTree(tree, [commit], 'made');
  const patch = await mirror.patchText(commit, made, 1 << 26);
  return {
    tree,
    ofCommit: await mirror.treeOf(made),
    byGit: treeByGit(mirror.dir, home, workspace),
    applied: treeByApply(mirror.dir, home, commit, patch),
    sameCommit: made === again,
    entries: (await mirror.compareTrees(commit, tree)).map(({ path }) => path),
    changed: harvest.map(({ path }) => path),
  };
}

function expectOneTree(trees: Awaited<ReturnType<typeof treesOf>>): void {
  const { tree } = trees;
  expect(trees).toEqual({
    ...trees,
    ofCommit: tree,
    byGit: tree,
    applied: tree,
    sameCommit: true,
    entries: trees.changed,
  });
}

it('what an agent made is read, written, and applied as a patch, to the tree git itself makes', async () => {
  const run = async ({ base, edits }: { base: TreeFile[]; edits: Edit[] }) => {
    const [commit = ''] = setting.commits(base);
    const snapshot = await setting.snapshot(commit);
    const workspace = await setting.workspace(snapshot);
    execFileSync('node', ['-e', applyScript], { cwd: workspace, input: applyInput(base, edits) });
    const harvest = await harvestWorkspace({ workspace, snapshot }, never);
    expectOneTree(await treesOf(commit, workspace, harvest));
    await removeTree(workspace);
  };
  await fc.assert(fc.asyncProperty(change, run), {
    ...{ numRuns: runs, endOnFailure: true, interruptAfterTimeLimit },
  });
});

it('the same from a container', async () => {
  const sandboxes = createSetting();
  const samples = fc.sample(change, { numRuns: 4, seed: 11 });
  const opened: Sandbox[] = [];
  try {
    for (const { base, edits } of samples) {
      const [commit = ''] = setting.commits(base);
      const snapshot = await setting.snapshot(commit);
      const request = { taskId: 'task', attemptId: 'attempt', snapshot, wallMs: 600_000 };
      const sandbox = await sandboxes.sandboxes.acquire(request, never);
      opened.push(sandbox);
      const copy = await setting.workspace(snapshot);
      const input = applyInput(base, edits);
      execFileSync('node', ['-e', applyScript], { cwd: copy, input });
      const options = { signal: never, wallMs: 60_000, stdin: input };
      const ran = await sandbox.run(['node', '-e', applyScript], options);
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
      const harvest = await sandbox.harvest(never);
      // Nothing runs any more, and nothing else can be asked.
      await expect(sandbox.read('a', { signal: never })).rejects.toMatchObject({ code: 'sandbox_died' });
      expectOneTree(await treesOf(commit, copy, harvest));
    }
  } finally {
    await Promise.all(opened.map((sandbox) => sandbox.close()));
    await sandboxes.end();
  }
});
