import type { Ground } from './ground.ts';
import { openLine } from './line.ts';
import type { MergePatch } from './port.ts';
import { clashes, touch } from './touched.ts';

export interface Conflict {
  readonly patch: MergePatch;
  /** The patch it conflicts with, an earlier one if any; null: with the target, or with several together. */
  readonly with: MergePatch | null;
  readonly paths: readonly string[];
}

export interface MergedPatches {
  /** The target's tree with the patches in it. */
  readonly tree: string;
  /** As they went in; a patch that adds nothing to what is there is neither here nor a conflict. */
  readonly merged: readonly MergePatch[];
  readonly conflicts: readonly Conflict[];
}

export type MergePatches = (patches: readonly MergePatch[]) => Promise<MergedPatches>;

/** {@link mergePatches} onto that ground, the same patches once: bisecting asks again for what it began with. */
export function createMerger(ground: Ground): MergePatches {
  const done = new Map<string, Promise<MergedPatches>>();
  return async (patches) => {
    const key = patches.map(({ subtaskId }) => subtaskId).join(' ');
    const result = done.get(key) ?? mergePatches(ground, patches);
    done.set(key, result);
    return await result;
  };
}

/**
 * Patches one after the other, in their order, onto the target's tree: it is the very tree that git makes of them
 * one by one. One that does not fit at its place is tried once more behind all others, since what was made anew may
 * stand on a later one; one that does not fit there either is in conflict and left out by name.
 */
export async function mergePatches(ground: Ground, patches: readonly MergePatch[]): Promise<MergedPatches> {
  const line = openLine(ground);
  const merged: MergePatch[] = [];
  const late: { readonly patch: MergePatch; readonly earlier: readonly MergePatch[] }[] = [];
  for (const patch of patches) {
    const added = await line.add(patch);
    if (!added.clean) late.push({ patch, earlier: [...merged] });
    else if (added.changed) merged.push(patch);
  }
  const conflicts: Conflict[] = [];
  for (const { patch, earlier } of late) {
    const added = await line.add(patch);
    if (added.clean) {
      if (added.changed) merged.push(patch);
      continue;
    }
    const later = merged.filter((other) => !earlier.includes(other));
    const rival = (await findRival(ground, earlier, patch)) ?? (await findRival(ground, later, patch));
    conflicts.push({ patch, with: rival, paths: added.conflicts });
  }
  return { tree: await line.write(), merged, conflicts };
}

/** The first of them that is in the way by itself; those that touch the same paths come before all others. */
async function findRival(
  ground: Ground,
  others: readonly MergePatch[],
  patch: MergePatch,
): Promise<MergePatch | null> {
  const own = touch(ground.changesOf(patch));
  const near = (other: MergePatch) =>
    ground.changesOf(other).some(({ path }) => own.files.has(path) || clashes(own, path));
  const nearFirst = [...others.filter(near), ...others.filter((other) => !near(other))];
  for (const other of nearFirst) {
    const line = openLine(ground);
    if (!(await line.add(other)).clean) continue;
    if (!(await line.add(patch)).clean) return other;
  }
  return null;
}
