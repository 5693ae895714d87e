import { classifyError } from '../domain/github-problem.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient, RepositoryNow } from './port.ts';

export async function readRepository(
  client: InstallationClient,
  repository: RepositoryRef,
): Promise<RepositoryNow | string> {
  try {
    const { data } = await client.rest.repos.get({ owner: repository.owner, repo: repository.name });
    if (data.id !== repository.id) return 'the repository has another id than the event names';
    return {
      repository: { ...repository, owner: data.owner.login, name: data.name },
      defaultBranch: data.default_branch,
      archived: data.archived,
    };
  } catch (error) {
    if (classifyError(error)?.status === 404) return 'the repository is gone';
    throw error;
  }
}

/** GitHub answers 404 where there is no such branch, 409 where there is no commit at all. */
export async function readBranch(
  client: InstallationClient,
  { owner, name: repo }: RepositoryRef,
  branch: string,
): Promise<string | null> {
  try {
    const { data } = await client.rest.git.getRef({ owner, repo, ref: `heads/${branch}` });
    return data.ref === `refs/heads/${branch}` ? data.object.sha : null;
  } catch (error) {
    const status = classifyError(error)?.status;
    if (status === 404 || status === 409) return null;
    throw error;
  }
}
