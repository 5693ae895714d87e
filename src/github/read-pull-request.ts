import { classifyError } from '../domain/github-problem.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient, PullRequestNow } from './port.ts';
import { storable } from './storable.ts';

/**
 * Events come late, doubled and out of order: what counts is what GitHub says now. A text instead, where
 * there is no such pull request any more, or not in the repository that the event was about.
 */
export async function readPullRequest(
  client: InstallationClient,
  repository: RepositoryRef,
  number: number,
): Promise<PullRequestNow | string> {
  try {
    const { data } = await client.rest.pulls.get({
      owner: repository.owner,
      repo: repository.name,
      pull_number: number,
    });
    const { base, head } = data;
    if (base.repo.id !== repository.id) return 'the repository has another id than the event names';
    return {
      repository: { ...repository, owner: base.repo.owner.login, name: base.repo.name },
      number,
      open: data.state === 'open',
      draft: data.draft ?? false,
      headSha: head.sha,
      baseSha: base.sha,
      baseRef: base.ref,
      headRef: head.ref,
      // The description says that the head has a repository; it has none once its fork was deleted.
      fork: (head.repo as { id: number } | null)?.id !== base.repo.id,
      archived: base.repo.archived,
      author: data.user?.login ?? '',
      title: storable(data.title),
      body: storable(data.body ?? ''),
    };
  } catch (error) {
    if (classifyError(error)?.status === 404) return 'the pull request is gone';
    throw error;
  }
}
