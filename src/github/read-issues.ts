import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient, OpenIssue } from './port.ts';

const excerptLength = 500;

export async function readLabels(
  client: InstallationClient,
  { owner, name: repo }: RepositoryRef,
): Promise<{ name: string; description: string }[]> {
  const labels = await client.paginate(client.rest.issues.listLabelsForRepo, { owner, repo, per_page: 100 });
  return labels.map(({ name, description }) => ({ name, description: description ?? '' }));
}

export async function readOpenIssues(
  client: InstallationClient,
  { owner, name: repo }: RepositoryRef,
): Promise<OpenIssue[]> {
  const { data } = await client.rest.issues.listForRepo({ owner, repo, state: 'open', per_page: 100 });
  return data
    .filter((issue) => issue.pull_request === undefined)
    .map(({ number, title, body }) => ({
      number,
      title,
      excerpt: (body ?? '').slice(0, excerptLength).toWellFormed(),
    }));
}
