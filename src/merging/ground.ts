import { PatchfleetError } from '../domain/failure.ts';
import type { Mirror, TreeChange, TreeDifference } from '../github/port.ts';
import type { MergePatch } from './port.ts';
import { differencesOf, type Touched, touch } from './touched.ts';

/** What git makes of one patch on one tree. */
export type GitMerge =
  /** `changes`: against the tree it was merged onto; null: too many to tell. */
  | { readonly clean: true; readonly tree: string; readonly changes: readonly TreeDifference[] | null }
  /** Paths in conflict, sorted. */
  | { readonly clean: false; readonly conflicts: readonly string[] };

/** A target and all that merging onto it has to know of the patches. */
export interface Ground {
  /** The target's tree. */
  readonly tree: string;
  /** What the patch changed. */
  changesOf(patch: MergePatch): readonly TreeDifference[];
  /** What differs between the patch's base and the target; null: too much to tell. */
  driftOf(patch: MergePatch): Touched | null;
  /** Each patch onto each tree is merged once. */
  mergeByGit(tree: string, patch: MergePatch): Promise<GitMerge>;
  write(tree: string, edits: readonly TreeChange[]): Promise<string>;
}

export interface GroundRequest {
  readonly mirror: Pick<Mirror, 'treesOf' | 'differences' | 'writeTree' | 'commitTree' | 'mergeTrees'>;
  readonly target: string;
  /** All that may ever be merged onto it. Their bases are in the mirror, and the blobs of their entries. */
  readonly patches: readonly MergePatch[];
  /** Before each step that takes time; what it throws ends the merging. */
  readonly onStep?: () => void;
}

/** Reads what is needed of target and bases, all at once. `commit_missing` where a base is not there. */
export async function openGround(request: GroundRequest): Promise<Ground> {
  const { mirror, target, patches, onStep } = request;
  const asked = patches.flatMap(({ baseCommit, tree }) => [baseCommit, tree]);
  const trees = await mirror.treesOf([target, ...asked]);
  const treeOf = (commit: string): string => {
    const tree = trees.get(commit);
    if (tree === undefined) throw new PatchfleetError('commit_missing', `${commit} is not in the mirror`);
    return tree;
  };
  const targetTree = treeOf(target);
  const bases = [...new Set(patches.map(({ baseCommit }) => treeOf(baseCommit)))];
  const drifts = new Map(
    (await tell(mirror, bases, targetTree)).map((drift, at) => [bases[at] ?? '', drift] as const),
  );
  const changes = new Map(patches.map((patch) => [patch, differencesOf(patch.entries)]));
  const merges = createGitMerges(mirror, treeOf, async ({ baseCommit, tree, entries }) => {
    if (trees.has(tree)) return tree;
    const edits = entries.map(({ path, file }) => ({ path, file }));
    const made = await mirror.writeTree(treeOf(baseCommit), edits);
    if (made === tree) return tree;
    throw new PatchfleetError('internal', `the entries of a patch give ${made}, not ${tree}`);
  });
  return {
    tree: targetTree,
    changesOf: (patch) => changes.get(patch) ?? differencesOf(patch.entries),
    driftOf: (patch) => drifts.get(treeOf(patch.baseCommit)) ?? null,
    mergeByGit: (tree, patch) => {
      onStep?.();
      return merges(tree, patch);
    },
    write: (tree, edits) => {
      onStep?.();
      return mirror.writeTree(tree, edits);
    },
  };
}

async function tell(
  mirror: Pick<Mirror, 'differences'>,
  bases: readonly string[],
  target: string,
): Promise<(Touched | null)[]> {
  try {
    const pairs = bases.map((base) => [base, target] as const);
    return (await mirror.differences(pairs)).map((differences) => touch(differences));
  } catch (thrown) {
    if (thrown instanceof PatchfleetError && thrown.code === 'diff_too_large') return bases.map(() => null);
    throw thrown;
  }
}

/**
 * Merges by git. The commits that it wants are made for it: their merge base is the patch's own base whatever the
 * branch's history, so a force-push that dropped commits does not bring them back.
 */
function createGitMerges(
  mirror: Pick<Mirror, 'differences' | 'commitTree' | 'mergeTrees'>,
  treeOf: (commit: string) => string,
  write: (patch: MergePatch) => Promise<string>,
): Ground['mergeByGit'] {
  const once = createMemo();
  const base = (tree: string) => once(`base ${tree}`, () => mirror.commitTree(tree, [], 'base'));
  const side = async (root: string, patch: MergePatch) =>
    mirror.commitTree(await write(patch), [root], 'theirs');
  async function merge(tree: string, patch: MergePatch): Promise<GitMerge> {
    const root = await base(treeOf(patch.baseCommit));
    const [ours, theirs] = await Promise.all([
      mirror.commitTree(tree, [root], 'ours'),
      once(`theirs ${root} ${patch.tree}`, () => side(root, patch)),
    ]);
    const result = await mirror.mergeTrees(ours, theirs);
    if (!result.clean) return result;
    return { ...result, changes: await changesBetween(mirror, tree, result.tree) };
  }
  const done = new Map<string, Promise<GitMerge>>();
  return async (tree, patch) => {
    const key = `${tree} ${patch.baseCommit} ${patch.tree}`;
    const result = done.get(key) ?? merge(tree, patch);
    done.set(key, result);
    return await result;
  };
}

async function changesBetween(
  mirror: Pick<Mirror, 'differences'>,
  from: string,
  to: string,
): Promise<readonly TreeDifference[] | null> {
  if (from === to) return [];
  try {
    const [changes = []] = await mirror.differences([[from, to]]);
    return changes;
  } catch (thrown) {
    if (thrown instanceof PatchfleetError && thrown.code === 'diff_too_large') return null;
    throw thrown;
  }
}

function createMemo(): (key: string, work: () => Promise<string>) => Promise<string> {
  const done = new Map<string, Promise<string>>();
  return async (key, work) => {
    const result = done.get(key) ?? work();
    done.set(key, result);
    return await result;
  };
}
