import type { TreeChange } from '../github/port.ts';
import type { Ground } from './ground.ts';
import type { MergePatch } from './port.ts';
import { clashes, same, type Touched, touch } from './touched.ts';

/** Patches going onto a target one after the other. */
export interface Line {
  /** Not clean: the patch is not in. `changed` false: it adds nothing to what is there. */
  add(patch: MergePatch): Promise<Added>;
  /** The tree with all that is in. */
  write(): Promise<string>;
}

export type Added =
  | { readonly clean: true; readonly changed: boolean }
  | { readonly clean: false; readonly conflicts: readonly string[] };

/**
 * A patch that finds each of its paths as its base has it, and nothing above or below one of them changed, is a row
 * of edits to the tree: git's three-way merge has nothing to decide (ADR 0017). Edits are kept back until a patch
 * comes that git has to merge, or the tree is asked for, and are written at once.
 */
export function openLine(ground: Ground): Line {
  let { tree } = ground;
  let edits = new Map<string, TreeChange>();
  // What differs between the target and what is there now; null: too much to tell.
  let current: Touched | null = touch([]);

  async function write(): Promise<string> {
    if (edits.size > 0) tree = await ground.write(tree, [...edits.values()]);
    edits = new Map();
    return tree;
  }
  async function mergeByGit(patch: MergePatch): Promise<Added> {
    const before = await write();
    const merged = await ground.mergeByGit(before, patch);
    if (!merged.clean) return merged;
    tree = merged.tree;
    current = current === null || merged.changes === null ? null : touch(merged.changes, current);
    return { clean: true, changed: tree !== before };
  }
  return {
    write,
    add: async (patch) => {
      const drift = ground.driftOf(patch);
      const changes = ground.changesOf(patch);
      if (current === null || drift === null) return await mergeByGit(patch);
      const now = current;
      const free = changes.every(({ path, before }) => {
        const last = [now, drift].find(({ files }) => files.has(path));
        const asInBase = last === undefined || same(last.files.get(path) ?? null, before);
        return asInBase && !clashes(now, path) && !clashes(drift, path);
      });
      if (!free) return await mergeByGit(patch);
      current = touch(changes, now);
      for (const { path, file } of patch.entries) edits.set(path, { path, file });
      return { clean: true, changed: changes.length > 0 };
    },
  };
}
