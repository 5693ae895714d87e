import { classifyError } from '../domain/github-problem.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient, IssueNow } from './port.ts';
import { storable } from './storable.ts';

interface RawIssue {
  readonly number: number;
  readonly state: string;
  readonly title: string;
  readonly body?: string | null;
  readonly user: { readonly login: string } | null;
  readonly pull_request?: object;
}

/** A text instead, where there is no such issue any more, or it moved to another repository. */
export async function readIssue(
  client: InstallationClient,
  { owner, name: repo }: RepositoryRef,
  number: number,
): Promise<IssueNow | string> {
  try {
    const { data } = await client.rest.issues.get({ owner, repo, issue_number: number });
    // GitHub redirects to where the issue was transferred.
    const here = `/repos/${owner}/${repo}`.toLowerCase();
    if (!data.repository_url.toLowerCase().endsWith(here)) return 'the issue is in another repository now';
    return issueOf(data);
  } catch (error) {
    const status = classifyError(error)?.status;
    if (status === 404 || status === 410) return 'the issue is gone';
    throw error;
  }
}

const pageSize = 100;
/** Pages that are looked through; pull requests count among issues here. */
const maxPages = 10;

/** Oldest first, so that asking again after the first ones are closed goes on with the rest. */
export async function openIssues(
  client: InstallationClient,
  { owner, name: repo }: RepositoryRef,
  label: string,
  max: number,
): Promise<{ issues: IssueNow[]; more: boolean }> {
  const issues: IssueNow[] = [];
  for (let page = 1; page <= maxPages && issues.length <= max; page += 1) {
    const { data } = await client.rest.issues.listForRepo({
      owner,
      repo,
      labels: label,
      state: 'open',
      sort: 'created',
      direction: 'asc',
      per_page: pageSize,
      page,
    });
    issues.push(...data.map(issueOf).filter((issue) => !issue.isPull));
    if (data.length < pageSize) break;
  }
  return { issues: issues.slice(0, max).sort((a, b) => a.number - b.number), more: issues.length > max };
}

function issueOf(data: RawIssue): IssueNow {
  return {
    number: data.number,
    open: data.state === 'open',
    isPull: data.pull_request !== undefined,
    author: data.user?.login ?? '',
    title: storable(data.title),
    body: storable(data.body ?? ''),
  };
}
