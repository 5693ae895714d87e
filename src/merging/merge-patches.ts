import type { MergeResult, Mirror } from '../github/port.ts';
import type { MergePatch } from './port.ts';

/** The change of one patch on another tree. */
export type Merge = (tree: string, patch: MergePatch) => Promise<MergeResult>;

export interface Conflict {
  readonly patch: MergePatch;
  /** The earlier patch it conflicts with; null: with the target, or with several together. */
  readonly with: MergePatch | null;
  readonly paths: readonly string[];
}

export interface MergedPatches {
  /** The target's tree with the patches in it. */
  readonly tree: string;
  /** In order; a patch that adds nothing to what is there is neither here nor a conflict. */
  readonly merged: readonly MergePatch[];
  readonly conflicts: readonly Conflict[];
}

/**
 * Merges by git, each patch onto each tree once: bisecting asks for the same beginnings again and again. The commits
 * that git wants are made for it: their merge base is the patch's own base whatever the branch's history, so a
 * force-push that dropped commits does not bring them back.
 */
export function createMerge(mirror: Pick<Mirror, 'treeOf' | 'commitTree' | 'mergeTrees'>): Merge {
  const done = new Map<string, Promise<MergeResult>>();
  const sides = new Map<MergePatch, Promise<{ base: string; theirs: string }>>();

  async function sidesOf(patch: MergePatch) {
    const base = await mirror.commitTree(await mirror.treeOf(patch.baseCommit), [], 'base');
    return { base, theirs: await mirror.commitTree(await mirror.treeOf(patch.commit), [base], 'theirs') };
  }
  async function merge(tree: string, patch: MergePatch): Promise<MergeResult> {
    const known = sides.get(patch) ?? sidesOf(patch);
    sides.set(patch, known);
    const { base, theirs } = await known;
    return await mirror.mergeTrees(await mirror.commitTree(tree, [base], 'ours'), theirs);
  }
  return async (tree, patch) => {
    const key = `${tree} ${patch.baseCommit} ${patch.commit}`;
    const result = done.get(key) ?? merge(tree, patch);
    done.set(key, result);
    return await result;
  };
}

/** Patches one after the other, in their order, onto a target's tree. One in conflict is left out by name. */
export async function mergePatches(
  merge: Merge,
  targetTree: string,
  patches: readonly MergePatch[],
): Promise<MergedPatches> {
  let tree = targetTree;
  const merged: MergePatch[] = [];
  const conflicts: Conflict[] = [];
  for (const patch of patches) {
    const result = await merge(tree, patch);
    if (!result.clean) {
      const rival = await findRival(merge, targetTree, merged, patch);
      conflicts.push({ patch, with: rival, paths: result.conflicts });
    } else if (result.tree !== tree) {
      tree = result.tree;
      merged.push(patch);
    }
  }
  return { tree, merged, conflicts };
}

/** The first earlier patch that is in the way by itself. */
async function findRival(
  merge: Merge,
  targetTree: string,
  earlier: readonly MergePatch[],
  patch: MergePatch,
): Promise<MergePatch | null> {
  for (const other of earlier) {
    const alone = await merge(targetTree, other);
    if (alone.clean && !(await merge(alone.tree, patch)).clean) return other;
  }
  return null;
}
