import type { LeftOut } from '../domain/candidate.ts';
import type { Verdict } from '../domain/verification.ts';
import { bisect } from './bisect.ts';
import { openGround } from './ground.ts';
import type { IntegrationRequest } from './integration-request.ts';
import { condemn, explain, giveUp } from './left-out.ts';
import { createMerger, type MergePatches } from './merge-patches.ts';
import type { MergePatch, Verifier } from './port.ts';
import { restoreProtected } from './restore-protected.ts';

export interface Search extends IntegrationRequest {
  readonly verifier: Verifier;
  /** Verifications of the whole and its parts. */
  readonly limit: number;
  readonly targetSha: string;
}

export interface Found {
  readonly tree: string;
  /** Patches that are green together; empty: none are. */
  readonly merged: readonly MergePatch[];
  /** Of them; where none are left, of the last that were tried; null: nothing was. */
  readonly verdict: Verdict | null;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Merges what fits and leaves out what makes the checks fail. Where the verifications are used up before all culprits
 * are known, what is left is the largest set that passed.
 */
export async function findGreen(search: Search): Promise<Found> {
  const ground = await openGround({
    mirror: search.mirror,
    target: search.targetSha,
    patches: search.patches,
    onStep: () => {
      search.context.signal.throwIfAborted();
      search.context.onProgress();
    },
  });
  const targetTree = ground.tree;
  const merge = createMerger(ground);
  const leftOut: LeftOut[] = [];
  let eligible = search.patches.toSorted((a, b) => a.row - b.row);
  // One that conflicts even by itself does so with the target. One that builds upon another may do so as well, and
  // fit all the same behind what it builds upon: those that fit together are not asked.
  const together = await merge(eligible);
  for (const { patch } of together.conflicts) {
    const alone = await merge([patch]);
    leftOut.push(...alone.conflicts.map((conflict) => explain(conflict, search.targetRef)));
    if (alone.conflicts.length > 0) eligible = eligible.filter((other) => other !== patch);
  }
  // Nothing will be published: nothing need be verified.
  const hopeless = search.onPartial === 'all_or_nothing' && search.failedRows.length + leftOut.length > 0;
  if (hopeless) return { tree: targetTree, merged: [], verdict: null, leftOut };
  const check = checker(search, merge);
  let verdict: Verdict | null = null;
  // A patch that gave way to a culprit has its chance once the culprit is out.
  for (;;) {
    const { merged, conflicts } = await merge(eligible);
    const rest = [...leftOut, ...conflicts.map((conflict) => explain(conflict, search.targetRef))];
    if (merged.length === 0) return { tree: targetTree, merged, verdict, leftOut: rest };
    const checked = await check.ask(merged);
    const now = checked?.verdict ?? null;
    if (checked !== null && now?.passed) {
      // What is published is the very tree that was verified. Where nothing is left of it there is nothing to add.
      const left = checked.tree === targetTree ? [] : merged;
      return { tree: checked.tree, merged: left, verdict: now, leftOut: rest };
    }
    verdict = now ?? verdict;
    const culprits = now === null ? null : await findCulprits(merged, now, check);
    if (culprits === null) return salvage(check.best(), targetTree, verdict, rest, merged);
    leftOut.push(...culprits);
    eligible = eligible.filter(({ row }) => !culprits.some((culprit) => culprit.row === row));
  }
}

/** The largest set that passed goes in; who of the others is at fault stays unknown. */
function salvage(
  best: Checked | null,
  targetTree: string,
  verdict: Verdict | null,
  leftOut: readonly LeftOut[],
  merged: readonly MergePatch[],
): Found {
  const kept = best !== null && best.tree !== targetTree ? best.merged : [];
  // An earlier round may have passed with one that was left out since.
  const all = [...leftOut, ...merged.map(giveUp)].filter(({ row }) => !kept.some((one) => one.row === row));
  return best === null || kept.length === 0
    ? { tree: targetTree, merged: [], verdict, leftOut: all }
    : { tree: best.tree, merged: kept, verdict: best.verdict, leftOut: all };
}

interface Checked {
  /** Those of the patches that asked whose change is in it. */
  readonly merged: readonly MergePatch[];
  readonly verdict: Verdict;
  /** What was verified: protected files as in the target. */
  readonly tree: string;
}

interface Check {
  /** Null: the search has used up its verifications. A tree is judged once. */
  ask(patches: readonly MergePatch[]): Promise<Checked | null>;
  /** The largest set that passed; null: none has. */
  best(): Checked | null;
}

function checker(search: Search, merge: MergePatches): Check {
  const { mirror, verifier, targetSha, protection, context, limit } = search;
  const known = new Map<string, Verdict>();
  let best: Checked | null = null;
  return {
    best: () => best,
    ask: async (patches) => {
      const { tree: whole, merged } = await merge(patches);
      const commit = await mirror.commitTree(whole, [targetSha], 'Candidate');
      const allowed = new Set(merged.flatMap(({ row }) => search.namedBy(row)));
      const restored = await restoreProtected({ mirror, base: targetSha, commit, protection, allowed });
      const tree = restored.commit === commit ? whole : await mirror.treeOf(restored.commit);
      let verdict = known.get(tree);
      if (verdict === undefined) {
        if (known.size >= limit) return null;
        verdict = await verifier.judge(targetSha, restored.commit, context);
        known.set(tree, verdict);
      }
      const checked = { merged, verdict, tree };
      if (verdict.passed && merged.length > (best?.merged.length ?? 0)) best = checked;
      return checked;
    },
  };
}

async function findCulprits(
  merged: readonly MergePatch[],
  whole: Verdict,
  check: Check,
): Promise<LeftOut[] | null> {
  // The last patch of a red set is what turned it red, once the set is the smallest that is.
  const blamed = new Map<number, Verdict>();
  const blame = (patches: readonly MergePatch[], verdict: Verdict) =>
    blamed.set(patches.at(-1)?.row ?? -1, verdict);
  blame(merged, whole);
  const questions = bisect(merged);
  for (let step = questions.next(); ; ) {
    if (step.done) {
      return step.value.map((patch) => condemn(patch, blamed.get(patch.row) ?? whole));
    }
    const checked = await check.ask(step.value);
    if (checked === null) return null;
    const { verdict } = checked;
    if (!verdict.passed) blame(step.value, verdict);
    step = questions.next(verdict.passed);
  }
}
