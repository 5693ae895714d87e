import type { MergeResult, Mirror } from '../github/port.ts';
import type { MergePatch } from './port.ts';

export type MergeMirror = Pick<Mirror, 'treeOf' | 'commitTree' | 'mergeTrees'>;

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

/** Patches one after the other, in their order, onto a target's tree. One in conflict is left out by name. */
export async function mergePatches(
  mirror: MergeMirror,
  targetTree: string,
  patches: readonly MergePatch[],
): Promise<MergedPatches> {
  let tree = targetTree;
  const merged: MergePatch[] = [];
  const conflicts: Conflict[] = [];
  for (const patch of patches) {
    const result = await mergeOnto(mirror, tree, patch);
    if (!result.clean) {
      const other = await findRival(mirror, targetTree, merged, patch);
      conflicts.push({ patch, with: other, paths: result.conflicts });
    } else if (result.tree !== tree) {
      tree = result.tree;
      merged.push(patch);
    }
  }
  return { tree, merged, conflicts };
}

/**
 * The change of one patch on another tree. The three commits are made for it: their merge base is the patch's own
 * base whatever the branch's history, so a force-push that dropped commits does not bring them back.
 */
export async function mergeOnto(mirror: MergeMirror, tree: string, patch: MergePatch): Promise<MergeResult> {
  const root = await mirror.commitTree(await mirror.treeOf(patch.baseCommit), [], 'base');
  const ours = await mirror.commitTree(tree, [root], 'ours');
  const theirs = await mirror.commitTree(await mirror.treeOf(patch.commit), [root], 'theirs');
  return await mirror.mergeTrees(ours, theirs);
}

/** The first earlier patch that is in the way by itself. */
async function findRival(
  mirror: MergeMirror,
  targetTree: string,
  earlier: readonly MergePatch[],
  patch: MergePatch,
): Promise<MergePatch | null> {
  for (const other of earlier) {
    const alone = await mergeOnto(mirror, targetTree, other);
    if (alone.clean && !(await mergeOnto(mirror, alone.tree, patch)).clean) return other;
  }
  return null;
}
