import { addInstallation, createAccessControls } from './access-controls.ts';
import type { TokenOptions } from './auth.ts';
import { addCheckRun } from './checks.ts';
import { addComment } from './comments.ts';
import type { Files } from './commits.ts';
import { resolveCommit } from './git.ts';
import { checkRunPayload, issueCommentPayload, pullRequestPayload } from './payloads.ts';
import { baseShaOf } from './pulls.ts';
import { createReaders } from './readers.ts';
import {
  addIssue,
  addPull,
  commit,
  createRepository,
  deleteBranch,
  forkRepository,
  type NewCommit,
  type NewRepository,
  setBranch,
} from './repositories.ts';
import {
  ensureUser,
  type Issue,
  installationOf,
  type Permissions,
  type Pull,
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
  const pull = (fullName: string, number: number): [Repository, Issue & { pull: Pull }] => {
    const repository = repo(fullName);
    const issue = pullOf(repository, number);
    if (!issue) throw new Error(`${fullName} has no pull request ${number}`);
    return [repository, issue];
  };
  const send = async (
    repository: Repository,
    issue: Issue & { pull: Pull },
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
    async setBranch(fullName: string, branch: string, sha: string) {
      await setBranch(state, repo(fullName), branch, sha);
    },
    async deleteBranch(fullName: string, branch: string) {
      await deleteBranch(repo(fullName), branch);
    },
    async openPullRequest(fullName: string, request: NewPullRequest): Promise<OpenedPull> {
      const repository = repo(fullName);
      const head = request.fork ? await forkRepository(state, repository, request.fork) : repository;
      const author = request.author ?? request.fork ?? 'mona';
      const { branch, files, fork: _, deliveryId, base, ...rest } = request;
      if (files)
        await commit(state, head, { branch, files, author, message: request.title ?? `Change ${branch}` });
      const where = {
        headRef: branch,
        headRepository: head,
        ...(base === undefined ? {} : { baseRef: base }),
      };
      const issue = await addPull(state, repository, { ...rest, ...where, author });
      return send(repository, issue as Issue & { pull: Pull }, 'opened', issue.author, {}, deliveryId);
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
      if (change.state) issue.state = change.state;
      if (change.draft !== undefined) issue.pull.draft = change.draft;
      if (change.title !== undefined) issue.title = change.title;
      if (change.body !== undefined) issue.body = change.body;
      if (change.base !== undefined) issue.pull.baseRef = change.base;
      issue.updatedAt = timestamp();
      return action ? send(repository, issue, action, issue.author) : null;
    },
    async openIssue(fullName: string, request: { title: string; body?: string | null; author?: string }) {
      return { number: addIssue(state, repo(fullName), request).number };
    },
    /** A user writes a comment; `issue_comment.created` is delivered. */
    async comment(
      fullName: string,
      number: number,
      request: { author: string; body: string; deliveryId?: string; type?: User['type'] },
    ) {
      const repository = repo(fullName);
      const issue = repository.issues.get(number);
      if (!issue) throw new Error(`${fullName} has no issue ${number}`);
      const author = ensureUser(state, request.author, request.type);
      const comment = addComment(state, repository, issue, author, request.body);
      const payload = issueCommentPayload(state, repository, comment, 'created', author);
      const id = request.deliveryId === undefined ? {} : { id: request.deliveryId };
      return { id: comment.id, delivery: await webhooks.send('issue_comment', payload, id) };
    },
    /** A check run of another app, as other tools of a repository make them. */
    async addCheckRun(fullName: string, request: { headSha: string; name: string; appId: number }) {
      return { id: addCheckRun(state, repo(fullName), request).id };
    },
    /** A user presses a button of a check run, or its re-run. */
    async pressCheckRun(
      fullName: string,
      id: number,
      request: { sender: string; action: 'rerequested' | 'requested_action'; identifier?: string },
    ) {
      const run = state.checkRuns.find((r) => r.id === id);
      if (!run) throw new Error(`no check run ${id}`);
      const more = request.identifier ? { requested_action: { identifier: request.identifier } } : {};
      const sender = ensureUser(state, request.sender);
      const payload = await checkRunPayload(state, repo(fullName), run, request.action, sender, more);
      return webhooks.send('check_run', payload);
    },
    async setWebhookUrl(url: string | null) {
      webhooks.url = url;
    },
    deliver: webhooks.deliver,
    redeliver: webhooks.redeliver,
    ...createAccessControls(state, tokenOptions, defaultPermissions),
    ...createReaders(state, webhooks),
  };
}

export type Controls = ReturnType<typeof createControls>;
