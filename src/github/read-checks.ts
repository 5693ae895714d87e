import { isFailing } from '../domain/check-conclusion.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { ChecksNow, InstallationClient } from './port.ts';

/** Runs that are read of one commit. */
const maxPages = 10;
const pageSize = 100;

/** `self`: our app's own id; its check runs are left out. */
export async function readChecks(
  client: InstallationClient,
  { owner, name: repo }: RepositoryRef,
  commit: string,
  self: number,
): Promise<ChecksNow> {
  const failing = new Set<string>();
  let pending = false;
  for (let page = 1; page <= maxPages; page += 1) {
    const { data } = await client.rest.checks.listForRef({
      owner,
      repo,
      ref: commit,
      filter: 'latest',
      per_page: pageSize,
      page,
    });
    for (const run of data.check_runs) {
      if (run.app?.id === self) continue;
      if (run.status !== 'completed') pending = true;
      else if (isFailing(run.conclusion)) failing.add(run.name);
    }
    if (data.check_runs.length < pageSize) break;
  }
  return { failing: [...failing].sort(), pending };
}

/** Number of the open pull request from that branch of this very repository; null where there is none. */
export async function pullOfBranch(
  client: InstallationClient,
  { owner, name: repo, id }: RepositoryRef,
  branch: string,
): Promise<number | null> {
  const { data } = await client.rest.pulls.list({ owner, repo, head: `${owner}:${branch}`, state: 'open' });
  const own = data.find((pull) => pull.head.ref === branch && pull.head.repo?.id === id);
  return own?.number ?? null;
}
