import { readCommit } from './commit-objects.ts';
import { resolveCommit, tryGit } from './git.ts';
import { listRefs } from './git-refs.ts';
import {
  type CheckRun,
  type Issue,
  type IssueComment,
  type Label,
  pullOf,
  type Reaction,
  type Repository,
  type Review,
  repositoryNamed,
  type State,
} from './state.ts';
import type { Delivery, Webhooks } from './webhooks.ts';

/** An issue or pull request, in words and numbers alone. */
function shown(issue: Issue) {
  const { number, title, body, state, stateReason, locked, labels, author } = issue;
  const names = labels.map((label) => label.name);
  return { number, title, body, state, stateReason, locked, labels: names, author: author.login };
}

/** What is on the double's GitHub now, in the order it was made. Names are `owner/name`. */
export function createReaders(state: State, webhooks: Webhooks) {
  const idOf = (fullName: string) => repositoryNamed(state, fullName).id;
  const all = ({ issues }: Repository) => [...issues.values()].sort((a, b) => a.number - b.number);
  return {
    async checkRuns(fullName: string): Promise<CheckRun[]> {
      return state.checkRuns.filter((r) => r.repositoryId === idOf(fullName));
    },
    async reviews(fullName: string, number: number): Promise<Review[]> {
      return state.reviews.filter((r) => r.repositoryId === idOf(fullName) && r.pull === number);
    },
    async comments(fullName: string, number: number): Promise<IssueComment[]> {
      return state.comments.filter((c) => c.repositoryId === idOf(fullName) && c.issue === number);
    },
    async reactions(commentId: number): Promise<readonly Reaction[]> {
      return state.comments.find((c) => c.id === commentId)?.reactions ?? [];
    },
    /** Issues without the pull requests, the open and the closed. */
    async issues(fullName: string) {
      return all(repositoryNamed(state, fullName))
        .filter((issue) => issue.pull === null)
        .map(shown);
    },
    /** Labels of the repository, or the names of those on an issue or pull request. */
    async labels(fullName: string, number?: number): Promise<string[]> {
      const repository = repositoryNamed(state, fullName);
      const labels: readonly Label[] =
        number === undefined ? repository.labels : (repository.issues.get(number)?.labels ?? []);
      return labels.map((label) => label.name);
    },
    async pullRequests(fullName: string) {
      const repository = repositoryNamed(state, fullName);
      return all(repository).flatMap(({ number }) => {
        const issue = pullOf(repository, number);
        if (!issue) return [];
        const { head, baseRef, draft, merged } = issue.pull;
        const { owner, name } = head.repository;
        const from = { headRef: head.ref, headSha: head.sha, headRepository: `${owner.login}/${name}` };
        return [{ ...shown(issue), ...from, baseRef, draft, merged: merged !== null }];
      });
    },
    /** Full ref names to ids; with a prefix only those below it, such as `refs/heads/patchfleet/`. */
    async refs(fullName: string, prefix = 'refs/'): Promise<Record<string, string>> {
      const found = await listRefs(repositoryNamed(state, fullName), prefix);
      return Object.fromEntries(found.map(({ name, sha }) => [name, sha]));
    },
    /** The commit of a branch, ref or id, with its tree; null where there is none. */
    async commitAt(fullName: string, ref: string) {
      const { dir } = repositoryNamed(state, fullName);
      const sha = await resolveCommit(dir, ref);
      return sha === null ? null : readCommit(dir, sha);
    },
    /** A file as text at a branch, ref or commit; null where there is none. */
    async fileAt(fullName: string, ref: string, path: string): Promise<string | null> {
      const { dir } = repositoryNamed(state, fullName);
      const sha = await resolveCommit(dir, ref);
      if (sha === null) return null;
      const { code, stdout } = await tryGit(dir, ['cat-file', 'blob', `${sha}:${path}`]);
      return code === 0 ? stdout.toString('utf8') : null;
    },
    /** Every webhook delivery that was tried, with its answer. */
    async deliveries(): Promise<readonly Delivery[]> {
      return webhooks.deliveries;
    },
  };
}
