import { checkRunObject } from './checks.ts';
import { commentObject } from './comments.ts';
import { issueObject } from './issues.ts';
import { appObject, nodeId, repositoryObject, repositoryUrl, userObject } from './objects.ts';
import { fullPull } from './pulls.ts';
import { reviewObject } from './reviews.ts';
import type { Json } from './router.ts';
import {
  type CheckRun,
  type IssueComment,
  installationOf,
  type PullIssue,
  type Repository,
  type Review,
  type State,
  type User,
} from './state.ts';

/** Webhook payloads in GitHub's full form, made from the double's own state. */

/** What every payload carries: repository, organization, installation, sender. */
export function common(state: State, repository: Repository, sender: User): Json {
  const { owner } = repository;
  const installation = installationOf(state, repository);
  const api = `${state.url}/orgs/${owner.login}`;
  const organization = {
    login: owner.login,
    id: owner.id,
    node_id: nodeId('Organization', owner.id),
    url: api,
    repos_url: `${api}/repos`,
    events_url: `${api}/events`,
    hooks_url: `${api}/hooks`,
    issues_url: `${api}/issues`,
    members_url: `${api}/members{/member}`,
    public_members_url: `${api}/public_members{/member}`,
    avatar_url: `${state.url}/avatars/u/${owner.id}`,
    description: '',
  };
  const node = nodeId('IntegrationInstallation', installation?.id ?? 0);
  return {
    repository: repositoryObject(state, repository),
    ...(owner.type === 'Organization' ? { organization } : {}),
    sender: userObject(state, sender),
    ...(installation ? { installation: { id: installation.id, node_id: node } } : {}),
  };
}

export async function pullRequestPayload(
  state: State,
  repository: Repository,
  issue: PullIssue,
  action: string,
  sender: User,
  more: Json = {},
): Promise<Json> {
  const settings = {
    allow_auto_merge: false,
    allow_update_branch: false,
    delete_branch_on_merge: false,
    merge_commit_message: 'PR_TITLE',
    merge_commit_title: 'MERGE_MESSAGE',
    squash_merge_commit_message: 'COMMIT_MESSAGES',
    squash_merge_commit_title: 'COMMIT_OR_PR_TITLE',
    use_squash_pr_title_as_default: false,
  };
  const pull = await fullPull(state, repository, issue);
  for (const side of ['head', 'base']) Object.assign((pull[side] as { repo: Json }).repo, settings);
  return {
    action,
    number: issue.number,
    pull_request: pull,
    ...more,
    ...common(state, repository, sender),
  };
}

export function issueCommentPayload(
  state: State,
  repository: Repository,
  comment: IssueComment,
  action: 'created' | 'edited' | 'deleted',
  sender: User,
  more: Json = {},
): Json {
  const issue = repository.issues.get(comment.issue);
  if (!issue) throw new Error(`no issue ${comment.issue}`);
  return {
    action,
    issue: issueObject(state, repository, issue),
    comment: commentObject(state, repository, comment),
    ...more,
    ...common(state, repository, sender),
  };
}

export async function checkRunPayload(
  state: State,
  repository: Repository,
  run: CheckRun,
  action: string,
  sender: User,
  more: Json = {},
): Promise<Json> {
  const object = await checkRunObject(state, repository, run);
  const issue = [...repository.issues.values()].find((i) => i.pull?.head.sha === run.headSha);
  const sameRepository = issue?.pull?.head.repository === repository;
  const suite = {
    id: run.suiteId,
    node_id: nodeId('CheckSuite', run.suiteId),
    head_branch: sameRepository ? (issue?.pull?.head.ref ?? null) : null,
    head_sha: run.headSha,
    status: run.status,
    conclusion: run.conclusion,
    url: `${repositoryUrl(state, repository)}/check-suites/${run.suiteId}`,
    before: null,
    after: run.headSha,
    pull_requests: object['pull_requests'],
    app: appObject(state, run.appId),
    created_at: run.startedAt,
    updated_at: run.startedAt,
  };
  return {
    action,
    check_run: { ...object, check_suite: suite },
    ...more,
    ...common(state, repository, sender),
  };
}

export async function reviewPayload(
  state: State,
  repository: Repository,
  issue: PullIssue,
  review: Review,
): Promise<Json> {
  const { pull_request: pull } = await pullRequestPayload(state, repository, issue, 'x', review.author);
  const object = reviewObject(state, repository, review);
  const counts = ['merged', 'mergeable', 'rebaseable', 'mergeable_state', 'merged_by', 'comments', 'commits'];
  const more = ['review_comments', 'maintainer_can_modify', 'additions', 'deletions', 'changed_files'];
  const shown = Object.entries(pull as Json).filter(([key]) => ![...counts, ...more].includes(key));
  return {
    action: 'submitted',
    review: { ...object, state: review.state.toLowerCase(), updated_at: review.submittedAt },
    pull_request: Object.fromEntries(shown),
    ...common(state, repository, review.author),
  };
}
