import type { Ground } from './ground.ts';
import { openLine } from './line.ts';
import type { MergePatch } from './port.ts';
import { clashes, touch } from './touched.ts';

export interface Conflict {
  readonly patch: MergePatch;
  /** The patch it conflicts with, by itself or together with those before it; null: with the target. */
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
    conflicts.push({ patch, with: await findRival(ground, earlier, later, patch), paths: added.conflicts });
  }
  return { tree: await line.write(), merged, conflicts };
}

/**
 * The patch in the way of one that does not fit behind `earlier`, nor behind these and `later`: the first that is by
 * itself, else one with which and the ones before it that patch does not fit, while it does without. Null where it
 * does not fit the target alone.
 */
async function findRival(
  ground: Ground,
  earlier: readonly MergePatch[],
  later: readonly MergePatch[],
  patch: MergePatch,
): Promise<MergePatch | null> {
  const fitsBehind = async (others: readonly MergePatch[]): Promise<boolean | null> => {
    const line = openLine(ground);
    for (const other of others) if (!(await line.add(other)).clean) return null;
    return (await line.add(patch)).clean;
  };
  if ((await fitsBehind([])) === false) return null;
  for (const other of [...nearFirst(ground, earlier, patch), ...nearFirst(ground, later, patch)]) {
    if ((await fitsBehind([other])) === false) return other;
  }
  let low = 0;
  let high = earlier.length;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((await fitsBehind(earlier.slice(0, middle))) === true) low = middle;
    else high = middle;
  }
  return earlier[low] ?? null;
}

/** Those that touch the same paths come before all others. */
function nearFirst(ground: Ground, others: readonly MergePatch[], patch: MergePatch): readonly MergePatch[] {
  const own = touch(ground.changesOf(patch));
  const near = new Set(
    others.filter((other) =>
      ground.changesOf(other).some(({ path }) => own.files.has(path) || clashes(own, path)),
    ),
  );
  return [...near, ...others.filter((other) => !near.has(other))];
}
