import { mkdir, rm } from 'node:fs/promises';
import { announce } from './announce.ts';
import { git, gitText, resolveCommit } from './git.ts';
import type { Doing } from './issue-controls.ts';
import { closeIssue, refMoved } from './move-refs.ts';
import { commitAndTell, type NewCommit, nextCommitTime, setBranch } from './repositories.ts';
import type { Effect } from './router.ts';
import { ensureUser, pullOf, type Repository, repositoryNamed, type State, timestamp } from './state.ts';
import type { Webhooks } from './webhooks.ts';

/** What users do to branches. Unlike `commit`, these deliver their events, and may come while the app works. */
export function createBranchControls(state: State, webhooks: Webhooks) {
  const repo = (fullName: string) => repositoryNamed(state, fullName);
  const tell = (repository: Repository, effects: readonly Effect[], doing: Doing) => {
    const sender = ensureUser(state, doing.sender ?? 'mona');
    const id = doing.deliveryId === undefined ? {} : { id: doing.deliveryId };
    return announce(state, webhooks, repository, effects, sender, id);
  };

  return {
    /**
     * A user pushes a commit: `push`, and `pull_request.synchronize` for each open pull request with that head.
     * `parent`: a force-push.
     */
    async push(fullName: string, request: NewCommit & { deliveryId?: string }) {
      const repository = repo(fullName);
      const { deliveryId, ...change } = request;
      const { sha, before, effects } = await commitAndTell(state, repository, change);
      const doing = { sender: request.author ?? 'mona', ...(deliveryId === undefined ? {} : { deliveryId }) };
      return { sha, before, delivery: await tell(repository, effects, doing) };
    },
    /** Points a branch at a commit and delivers nothing. */
    async setBranch(fullName: string, branch: string, sha: string) {
      await setBranch(state, repo(fullName), branch, sha);
    },
    /** Deletes a branch (`push` with `deleted`); open pull requests from it or to it are closed. */
    async deleteBranch(fullName: string, branch: string, request: Doing = {}) {
      const repository = repo(fullName);
      return tell(repository, await setBranch(state, repository, branch, null), request);
    },
    /** The app may no longer move, force-push or delete the branch; `protects: false` ends that. */
    async setProtected(fullName: string, branch: string, protects = true) {
      const { protectedBranches } = repo(fullName);
      if (protects) protectedBranches.add(branch);
      else protectedBranches.delete(branch);
    },
    /** Merges with a merge commit: `push` to the base, then `pull_request.closed` with `merged`. Throws on conflict. */
    async mergePullRequest(fullName: string, number: number, request: Doing = {}) {
      const repository = repo(fullName);
      const issue = pullOf(repository, number);
      if (issue?.state !== 'open') throw new Error(`${fullName} has no open pull request ${number}`);
      const { dir } = repository;
      const { head, baseRef } = issue.pull;
      const sender = ensureUser(state, request.sender ?? 'mona');
      const base = await gitText(dir, ['rev-parse', '--verify', `refs/heads/${baseRef}`]);
      const tree = await gitText(dir, ['merge-tree', '--write-tree', '--no-messages', base, head.sha]);
      const who = {
        NAME: sender.login,
        EMAIL: `${sender.login}@example.com`,
        DATE: `${nextCommitTime(state)} +0000`,
      };
      const env = Object.fromEntries(
        Object.entries(who).flatMap(([key, value]) => [
          [`GIT_AUTHOR_${key}`, value],
          [`GIT_COMMITTER_${key}`, value],
        ]),
      );
      const message = `Merge pull request #${number} from ${head.repository.owner.login}/${head.ref}\n\n${issue.title}\n`;
      const args = ['commit-tree', tree, '-p', base, '-p', head.sha];
      const sha = (await git(dir, args, Buffer.from(message), env)).toString('utf8').trim();
      await git(dir, ['update-ref', `refs/heads/${baseRef}`, sha, base]);
      issue.pull.merged = { at: timestamp(), by: sender, sha };
      issue.pull.frozenBase = base;
      closeIssue(issue, null);
      const moved = await refMoved(state, repository, `refs/heads/${baseRef}`, base, sha);
      const delivery = await tell(repository, [...moved, { kind: 'pull', action: 'closed', issue }], request);
      return { sha, delivery };
    },
    /** Writes the files of a branch or commit into a directory outside the repository, as a fresh clone has them. */
    async checkout(fullName: string, ref: string, dir: string) {
      const repository = repo(fullName);
      const sha = await resolveCommit(repository.dir, ref);
      if (!sha) throw new Error(`${fullName} has no ${ref}`);
      await mkdir(dir, { recursive: true });
      const env = { GIT_INDEX_FILE: `${dir}.index`, GIT_WORK_TREE: dir };
      await git(repository.dir, ['read-tree', sha], undefined, env);
      await git(repository.dir, ['checkout-index', '-a', '-f', '-q', `--prefix=${dir}/`], undefined, env);
      await rm(`${dir}.index`, { force: true });
      return { sha };
    },
  };
}
