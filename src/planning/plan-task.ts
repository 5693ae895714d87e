import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits } from '../config/operator-config.ts';
import type { RepositoryConfig } from '../config/repository-config.ts';
import type { SkippedFile } from '../domain/change.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { Plan } from '../domain/matrix.ts';
import type { PullRequestRef, RepositoryRef } from '../domain/task.ts';
import type { Mirrors } from '../github/port.ts';
import { isManifest } from './packages.ts';
import { planReview } from './plan-review.ts';
import type { TreeSize } from './size-rows.ts';

export interface PlanRequest {
  readonly repository: RepositoryRef;
  readonly pullRequest: PullRequestRef & { readonly title: string; readonly body: string };
  readonly config: RepositoryConfig;
  /** The agents that review, in the order of the configuration. */
  readonly agents: readonly AgentConfig[];
  readonly limits: Limits;
}

export interface PlannedTask {
  readonly plan: Plan;
  readonly skipped: readonly SkippedFile[];
  /** What the head is compared with, here and at execution. */
  readonly mergeBase: string;
  readonly coverage: Coverage;
  readonly tree: TreeSize;
}

/** What of the change is looked at: the summary states it. Counts of files, and of changed lines. */
export interface Coverage {
  readonly changedFiles: number;
  readonly reviewedFiles: number;
  readonly skippedFiles: number;
  readonly additions: number;
  readonly deletions: number;
}

export interface Planner {
  /**
   * Reads the pull request in the mirror and plans its review. Fails with `commit_missing` (also where head
   * and base share no history), `diff_too_large`, `cancelled`, or as fetching does.
   */
  plan(request: PlanRequest, signal: AbortSignal): Promise<PlannedTask>;
}

export function createPlanner(deps: { readonly mirrors: Mirrors }): Planner {
  return {
    plan: async (request, signal) => {
      const { pullRequest, limits } = request;
      const { headSha, baseSha } = pullRequest;
      const mirror = await deps.mirrors.open(request.repository);
      await mirror.fetchPullRequest(pullRequest.number, headSha, baseSha, signal);
      const mergeBase = await mirror.mergeBase(baseSha, headSha);
      if (mergeBase === null) {
        throw new PatchfleetError('commit_missing', `${headSha} and ${baseSha} have no common ancestor`);
      }
      const maxBytes = limits.diff_mib * 1024 * 1024;
      const [{ changes, skipped: unread }, tree] = await Promise.all([
        mirror.changes(mergeBase, headSha, { maxBytes, signal }),
        mirror.listTree(headSha),
      ]);
      const blobs = changes.map((change) => (change.status === 'deleted' ? change.oldBlob : change.newBlob));
      const manifests = tree.filter(isManifest);
      const { plan, skipped } = planReview({
        repository: request.repository,
        pullRequest,
        changes,
        skipped: unread,
        manifests,
        blobSizes: await mirror.blobSizes(blobs),
        repositoryConfig: request.config,
        agents: request.agents,
        limits,
      });
      const reviewed = new Set(plan.rows.flatMap((row) => row.matrix.inputs));
      const covered = changes.filter((change) => reviewed.has(change.path));
      return {
        plan,
        skipped,
        mergeBase,
        tree: { files: tree.length, packages: manifests.length },
        coverage: {
          changedFiles: changes.length + unread.length,
          reviewedFiles: covered.length,
          skippedFiles: skipped.length,
          additions: covered.reduce((sum, change) => sum + change.additions, 0),
          deletions: covered.reduce((sum, change) => sum + change.deletions, 0),
        },
      };
    },
  };
}
