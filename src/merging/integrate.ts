import type { Candidate } from '../domain/candidate.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { findGreen } from './find-green.ts';
import type { IntegrationRequest } from './integration-request.ts';
import type { VerificationContext, Verifier } from './port.ts';

export interface Integrator {
  /**
   * Merges what can be merged onto the target's present head and is green there. The candidate is one commit
   * whose parent is that head. `github_refused` when the branch is gone; what verifying throws.
   */
  integrate(request: IntegrationRequest): Promise<Omit<Candidate, 'checks'>>;
}

/** Candidates judged in one integration; beyond it, only what has passed by then goes in. */
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
