import { git } from './git.ts';
import type { Effect } from './router.ts';
import { type Issue, type PullIssue, type Repository, type State, timestamp } from './state.ts';

/**
 * Brings pull requests in line with a ref that has just moved in the bare repository: heads follow their branch,
 * and a pull request whose head or base branch is gone is closed. Says what GitHub tells of it all.
 */
export async function refMoved(
  state: State,
  repository: Repository,
  ref: string,
  before: string | null,
  after: string | null,
): Promise<Effect[]> {
  repository.pushedAt = timestamp();
  const effects: Effect[] = [{ kind: 'push', ref, before, after }];
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
  if (branch === undefined || before === after) return effects;
  for (const base of state.repositories.values()) {
    for (const issue of base.issues.values()) {
      if (!issue.pull || issue.state !== 'open') continue;
      const pull = issue as PullIssue;
      const { head, baseRef } = pull.pull;
      const isHead = head.repository === repository && head.ref === branch;
      if (after === null) {
        if (!isHead && !(base === repository && baseRef === branch)) continue;
        if (!isHead) pull.pull.frozenBase = before;
        closeIssue(pull, null);
        effects.push({ kind: 'pull', in: base, action: 'closed', issue: pull });
      } else if (isHead) {
        const more = { before: head.sha, after };
        head.sha = after;
        issue.updatedAt = timestamp();
        await writePullRef(base, issue.number, repository, after);
        effects.push({ kind: 'pull', in: base, action: 'synchronize', issue: pull, more });
      }
    }
  }
  return effects;
}

/** Closes an issue or pull request; pull requests have no reason. */
export function closeIssue(issue: Issue, reason: 'completed' | 'not_planned' | null): void {
  issue.state = 'closed';
  issue.stateReason = reason;
  issue.closedAt = timestamp();
  issue.updatedAt = issue.closedAt;
}

export function reopenIssue(issue: Issue): void {
  issue.state = 'open';
  issue.stateReason = issue.pull ? null : 'reopened';
  issue.closedAt = null;
  issue.updatedAt = timestamp();
}

/** `refs/pull/N/head` in the base repository, as GitHub keeps it; a fork's objects are brought over. */
export async function writePullRef(
  base: Repository,
  number: number,
  head: Repository,
  sha: string,
): Promise<void> {
  const ref = `refs/pull/${number}/head`;
  if (head !== base) await git(base.dir, ['fetch', '-q', head.dir, `+${sha}:${ref}`]);
  else await git(base.dir, ['update-ref', ref, sha]);
}
