import { addInstallation, createAccessControls } from './access-controls.ts';
import type { TokenOptions } from './auth.ts';
import { createBranchControls } from './branch-controls.ts';
import { createCheckControls } from './check-controls.ts';
import type { Files } from './commits.ts';
import { resolveCommit } from './git.ts';
import { createIssueControls } from './issue-controls.ts';
import { closeIssue, reopenIssue } from './move-refs.ts';
import { addPull } from './open-issues.ts';
import { pullRequestPayload } from './payloads.ts';
import { baseShaOf } from './pulls.ts';
import { createReaders } from './readers.ts';
import {
  commit,
  createRepository,
  forkRepository,
  type NewCommit,
  type NewRepository,
} from './repositories.ts';
import {
  ensureUser,
  installationOf,
  type Permissions,
  type PullIssue,
  pullOf,
  type Repository,
  repositoryNamed,
  type State,
  timestamp,
  type User,
} from './state.ts';
import type { Delivery, Webhooks } from './webhooks.ts';

export interface NewPullRequest {
  readonly branch: string;
  /** Made into a commit on the branch; leave out where the branch is ready. */
  readonly files?: Files;
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  readonly base?: string;
  readonly draft?: boolean;
  /** Login of the fork's owner, for a pull request from a fork. */
  readonly fork?: string;
  /** What `author_association` says of the author in this repository from now on. */
  readonly association?: string;
  /** Id of the delivery. */
  readonly deliveryId?: string;
}

export interface OpenedPull {
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  /** Null where no webhook URL is set. */
  readonly delivery: Delivery | null;
}

/** What a test or the demo does in the place of GitHub's users and administrators. Names are `owner/name`. */
export function createControls(
  state: State,
  webhooks: Webhooks,
  tokenOptions: TokenOptions,
  defaultPermissions: Permissions,
) {
  const repo = (fullName: string) => repositoryNamed(state, fullName);
  const pull = (fullName: string, number: number): [Repository, PullIssue] => {
    const repository = repo(fullName);
    const issue = pullOf(repository, number);
    if (!issue) throw new Error(`${fullName} has no pull request ${number}`);
    return [repository, issue];
  };
  const send = async (
    repository: Repository,
    issue: PullIssue,
    action: string,
    sender: User,
    more: Record<string, unknown> = {},
    id?: string,
  ): Promise<OpenedPull> => {
    const payload = await pullRequestPayload(state, repository, issue, action, sender, more);
    const delivery = await webhooks.send('pull_request', payload, id === undefined ? {} : { id });
    const baseSha = await baseShaOf(repository, issue);
    return { number: issue.number, headSha: issue.pull.head.sha, baseSha, delivery };
  };

  return {
    /** Makes a repository; its owner gets an installation of the app with the default permissions. */
    async createRepository(request: NewRepository) {
      const repository = await createRepository(state, request);
      const installation =
        installationOf(state, repository) ?? addInstallation(state, repository.owner, defaultPermissions);
      return {
        id: repository.id,
        fullName: request.fullName,
        dir: repository.dir,
        installationId: installation.id,
        headSha: await resolveCommit(repository.dir, repository.defaultBranch),
      };
    },
    async commit(fullName: string, request: NewCommit) {
      return commit(state, repo(fullName), request);
    },
    async openPullRequest(fullName: string, request: NewPullRequest): Promise<OpenedPull> {
      const repository = repo(fullName);
      const head = request.fork ? await forkRepository(state, repository, request.fork) : repository;
      const author = request.author ?? request.fork ?? 'mona';
      const { branch, files, fork: _, deliveryId, base, association, ...rest } = request;
      if (association !== undefined) repository.associations.set(author.toLowerCase(), association);
      if (files)
        await commit(state, head, { branch, files, author, message: request.title ?? `Change ${branch}` });
      const where = {
        headRef: branch,
        headRepository: head,
        ...(base === undefined ? {} : { baseRef: base }),
      };
      const issue = await addPull(state, repository, { ...rest, ...where, author });
      return send(repository, issue, 'opened', issue.author, {}, deliveryId);
    },
    /** Pushes a commit to the head branch and says `synchronize`; `parent` makes it a force-push. */
    async pushToPullRequest(
      fullName: string,
      number: number,
      request: Omit<NewCommit, 'branch'> & { deliveryId?: string },
    ): Promise<OpenedPull> {
      const [repository, issue] = pull(fullName, number);
      const { head } = issue.pull;
      const before = head.sha;
      const { deliveryId, ...change } = request;
      const after = await commit(state, head.repository, { ...change, branch: head.ref });
      const sender = ensureUser(state, request.author ?? issue.author.login);
      return send(repository, issue, 'synchronize', sender, { before, after }, deliveryId);
    },
    /** Changes a pull request and, where an action is named, delivers that event. */
    async updatePullRequest(
      fullName: string,
      number: number,
      change: {
        state?: 'open' | 'closed';
        draft?: boolean;
        title?: string;
        body?: string | null;
        base?: string;
      },
      action?: string,
    ): Promise<OpenedPull | null> {
      const [repository, issue] = pull(fullName, number);
      if (change.state === 'closed') closeIssue(issue, null);
      if (change.state === 'open') reopenIssue(issue);
      if (change.draft !== undefined) issue.pull.draft = change.draft;
      if (change.title !== undefined) issue.title = change.title;
      if (change.body !== undefined) issue.body = change.body;
      if (change.base !== undefined) issue.pull.baseRef = change.base;
      issue.updatedAt = timestamp();
      return action ? send(repository, issue, action, issue.author) : null;
    },
    async setWebhookUrl(url: string | null) {
      webhooks.url = url;
    },
    deliver: webhooks.deliver,
    redeliver: webhooks.redeliver,
    ...createBranchControls(state, webhooks),
    ...createIssueControls(state, webhooks),
    ...createCheckControls(state, webhooks),
    ...createAccessControls(state, tokenOptions, defaultPermissions),
    ...createReaders(state, webhooks),
  };
}

export type Controls = ReturnType<typeof createControls>;
