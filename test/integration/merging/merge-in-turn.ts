import type { MergeResult, Mirror } from '../../../src/github/port.ts';
import type { MergedPatches } from '../../../src/merging/merge-patches.ts';
import type { MergePatch } from '../../../src/merging/port.ts';

/**
 * What merging means, without any short cut: each patch is merged by git onto the tree of those before it, one that
 * does not fit once more behind all others.
 */
export async function mergeInTurn(
  mirror: Mirror,
  target: string,
  patches: readonly MergePatch[],
): Promise<MergedPatches> {
  const targetTree = await mirror.treeOf(target);
  const merge = async (tree: string, patch: MergePatch): Promise<MergeResult> => {
    const base = await mirror.commitTree(await mirror.treeOf(patch.baseCommit), [], 'base');
    const ours = await mirror.commitTree(tree, [base], 'ours');
    return await mirror.mergeTrees(ours, await mirror.commitTree(patch.tree, [base], 'theirs'));
  };
  const fitsBehind = async (others: readonly MergePatch[], patch: MergePatch) => {
    let beneath = targetTree;
    for (const other of others) {
      const result = await merge(beneath, other);
      if (!result.clean) return null;
      beneath = result.tree;
    }
    return (await merge(beneath, patch)).clean;
  };
  const inTheWay = async (
    earlier: readonly MergePatch[],
    later: readonly MergePatch[],
    patch: MergePatch,
  ) => {
    if ((await fitsBehind([], patch)) === false) return null;
    const near = [...earlier, ...later].filter((other) => touching(other, patch));
    const nearFirst = [earlier, later].flatMap((all) => [
      ...all.filter((one) => near.includes(one)),
      ...all.filter((one) => !near.includes(one)),
    ]);
    for (const other of nearFirst) if ((await fitsBehind([other], patch)) === false) return other;
    let [low, high] = [0, earlier.length];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if ((await fitsBehind(earlier.slice(0, middle), patch)) === true) low = middle;
      else high = middle;
    }
    return earlier[low] ?? null;
  };

  let tree = targetTree;
  const merged: MergePatch[] = [];
  const add = async (patch: MergePatch) => {
    const result = await merge(tree, patch);
    if (result.clean && result.tree !== tree) merged.push(patch);
    if (result.clean) tree = result.tree;
    return result;
  };
  const late: [MergePatch, MergePatch[]][] = [];
  for (const patch of patches) {
    if (!(await add(patch)).clean) late.push([patch, [...merged]]);
  }
  const conflicts = [];
  for (const [patch, earlier] of late) {
    const result = await add(patch);
    if (result.clean) continue;
    const later = merged.filter((other) => !earlier.includes(other));
    conflicts.push({ patch, with: await inTheWay(earlier, later, patch), paths: result.conflicts });
  }
  return { tree, merged, conflicts };
}

/** A path of one is a path of the other, or above or below it. */
function touching(one: MergePatch, other: MergePatch): boolean {
  return one.entries.some(({ path: a }) =>
    other.entries.some(({ path: b }) => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)),
  );
}
