import type { Candidate, LeftOut } from '../domain/candidate.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import type { Verdict } from '../domain/verification.ts';
import type { Mirror } from '../github/port.ts';
import { bisect } from './bisect.ts';
import { openGround } from './ground.ts';
import { type Conflict, createMerger, type MergePatches } from './merge-patches.ts';
import type { MergePatch, VerificationContext, Verifier } from './port.ts';
import { restoreProtected } from './restore-protected.ts';

export interface IntegrationRequest {
  readonly mirror: Mirror;
  /** Branch the result goes to, without `refs/heads/`. */
  readonly targetRef: string;
  /** The branch is in a fork: its head is that of this pull request. */
  readonly pull?: number;
  /** In any order; they are merged by row. */
  readonly patches: readonly MergePatch[];
  /** Rows without a patch to merge, which failed. */
  readonly failedRows: readonly LeftOut[];
  readonly onPartial: 'publish_rest' | 'all_or_nothing';
  /** See protection.ts. */
  readonly protection: ProtectionOf;
  /** Paths that a row's scope names literally. */
  readonly namedBy: (row: number) => readonly string[];
  /** Message of the candidate's commit, from the rows in it. */
  readonly message: (rows: readonly number[]) => string;
  readonly context: VerificationContext;
}

export interface Integrator {
  /**
   * Merges what can be merged onto the target's present head and is green there. The candidate is one commit
   * whose parent is that head. `github_refused` when the branch is gone; what verifying throws.
   */
  integrate(request: IntegrationRequest): Promise<Omit<Candidate, 'checks'>>;
}

/** Verifications of one candidate and its parts; beyond it, who is at fault stays unknown and nothing is published. */
const defaultMaxVerifications = 60;

export function createIntegrator(deps: {
  readonly verifier: Verifier;
  readonly maxVerifications?: number;
}): Integrator {
  return {
    async integrate(request) {
      const { mirror, targetRef, context } = request;
      const targetSha =
        request.pull === undefined
          ? await mirror.fetchBranch(targetRef, context.signal)
          : await mirror.fetchPullHead(request.pull, context.signal);
      if (targetSha === null) {
        throw new PatchfleetError('github_refused', `the branch ${targetRef} is gone: nothing to merge into`);
      }
      let runs = 0;
      const counted: VerificationContext = {
        ...context,
        onRun: () => {
          runs += 1;
          context.onRun?.();
        },
      };
      const limit = deps.maxVerifications ?? defaultMaxVerifications;
      const search = { ...request, context: counted, verifier: deps.verifier, limit, targetSha };
      const { merged, tree, verdict, leftOut } = await findGreen(search);
      const all = [...request.failedRows, ...leftOut].sort((a, b) => a.row - b.row);
      const whole = request.onPartial !== 'all_or_nothing' || all.length === 0;
      const publishable = merged.length > 0 && whole;
      const rows = publishable ? merged.map(({ row }) => row).sort((a, b) => a - b) : [];
      return {
        targetSha,
        commit: publishable ? await mirror.commitTree(tree, [targetSha], request.message(rows)) : null,
        tree: publishable ? tree : null,
        merged: rows,
        leftOut: all,
        verdict,
        verifications: runs,
      };
    },
  };
}

interface Search extends IntegrationRequest {
  readonly verifier: Verifier;
  readonly limit: number;
  readonly targetSha: string;
}

interface Found {
  readonly tree: string;
  /** Rows that are green together; empty: none are. */
  readonly merged: readonly MergePatch[];
  /** Of them; where none are left, of the last that were tried; null: nothing was. */
  readonly verdict: Verdict | null;
  readonly leftOut: readonly LeftOut[];
}

async function findGreen(search: Search): Promise<Found> {
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
    const checked = await check(merged);
    const now = checked?.verdict ?? null;
    if (checked !== null && now?.passed) {
      // What is published is the very tree that was verified. Where nothing is left of it there is nothing to add.
      const left = checked.tree === targetTree ? [] : merged;
      return { tree: checked.tree, merged: left, verdict: now, leftOut: rest };
    }
    verdict = now ?? verdict;
    const culprits = now === null ? null : await findCulprits(merged, now, check);
    if (culprits === null)
      return { tree: targetTree, merged: [], verdict, leftOut: [...rest, ...merged.map(giveUp)] };
    leftOut.push(...culprits);
    eligible = eligible.filter(({ row }) => !culprits.some((culprit) => culprit.row === row));
  }
}

/** Null: the search has used up its verifications. `tree`: what was verified, protected files as in the target. */
type Check = (
  patches: readonly MergePatch[],
) => Promise<{ readonly verdict: Verdict; readonly tree: string } | null>;

function checker(search: Search, merge: MergePatches): Check {
  const { mirror, verifier, targetSha, protection, context, limit } = search;
  let checks = 0;
  return async (patches) => {
    checks += 1;
    if (checks > limit) return null;
    const { tree, merged } = await merge(patches);
    const commit = await mirror.commitTree(tree, [targetSha], 'Candidate');
    const allowed = new Set(merged.flatMap(({ row }) => search.namedBy(row)));
    const restored = await restoreProtected({ mirror, base: targetSha, commit, protection, allowed });
    const verdict = await verifier.judge(targetSha, restored.commit, context);
    return { verdict, tree: restored.commit === commit ? tree : await mirror.treeOf(restored.commit) };
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
    const checked = await check(step.value);
    if (checked === null) return null;
    const { verdict } = checked;
    if (!verdict.passed) blame(step.value, verdict);
    step = questions.next(verdict.passed);
  }
}

function condemn({ subtaskId, row }: MergePatch, { newFailures }: Verdict): LeftOut {
  const reason = `with it, these fail: ${some(newFailures)}`;
  return { subtaskId, row, code: 'verification', reason, against: null };
}

function explain({ patch, with: other, paths }: Conflict, targetRef: string): LeftOut {
  const where = paths.length === 0 ? '' : ` in ${some(paths)}`;
  const opponent = other === null ? targetRef : `row ${other.row} (${other.title})`;
  return {
    subtaskId: patch.subtaskId,
    row: patch.row,
    code: 'conflict',
    reason: `conflicts with ${opponent}${where}`,
    against: other?.subtaskId ?? null,
  };
}

function giveUp({ subtaskId, row }: MergePatch): LeftOut {
  const reason = 'the checks fail with all patches together, and it was not found in time which are at fault';
  return { subtaskId, row, code: 'verification', reason, against: null };
}

/** The first few of a list, the rest as a number. */
function some(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length <= 5 ? shown : `${shown} and ${names.length - 5} more`;
}
