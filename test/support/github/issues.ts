import { association, labelObject, nodeId, repositoryHtmlUrl, repositoryUrl, userObject } from './objects.ts';
import { reactionRollup } from './reaction-rollup.ts';
import {
  type Json,
  notFound,
  numberParam,
  paginate,
  Refusal,
  type Reply,
  type RepositoryCall,
  type Route,
} from './router.ts';
import type { Issue, Repository, State } from './state.ts';

/** An issue, or a pull request seen as one. */
export function issueObject(state: State, repository: Repository, issue: Issue): Json {
  const self = `${repositoryUrl(state, repository)}/issues/${issue.number}`;
  const html = `${repositoryHtmlUrl(state, repository)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}`;
  const link = {
    url: `${repositoryUrl(state, repository)}/pulls/${issue.number}`,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    merged_at: issue.pull?.merged?.at ?? null,
  };
  return {
    url: self,
    repository_url: repositoryUrl(state, repository),
    labels_url: `${self}/labels{/name}`,
    comments_url: `${self}/comments`,
    events_url: `${self}/events`,
    html_url: html,
    id: issue.id,
    node_id: nodeId('Issue', issue.id),
    number: issue.number,
    title: issue.title,
    user: userObject(state, issue.author),
    labels: issue.labels.map((label) => labelObject(state, repository, label)),
    state: issue.state,
    state_reason: issue.stateReason,
    locked: issue.locked,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: state.comments.filter((c) => c.repositoryId === repository.id && c.issue === issue.number)
      .length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    author_association: association(repository, issue.author),
    active_lock_reason: null,
    ...(issue.pull ? { draft: issue.pull.draft, pull_request: link } : {}),
    body: issue.body,
    reactions: reactionRollup(self, { reactions: [] }),
    timeline_url: `${self}/timeline`,
    performed_via_github_app: null,
  };
}

/** The issue a call is about: 410 where it was deleted, 404 where it never was. */
export function issueIn(call: RepositoryCall): Issue {
  const number = numberParam(call, 'issue_number');
  if (call.repository.deletedIssues.has(number)) throw new Refusal(410, 'This issue was deleted');
  const issue = call.repository.issues.get(number);
  if (!issue) throw notFound();
  return issue;
}

/** Newest first unless asked otherwise; pull requests are among them. */
function listIssues(call: RepositoryCall): Reply {
  const { query, repository } = call;
  const { state: wanted = 'open', labels = '', creator, since, sort = 'created', direction = 'desc' } = query;
  const names = labels.split(',').filter(Boolean);
  const has = (issue: Issue, name: string) =>
    issue.labels.some((label) => label.name.toLowerCase() === name.trim().toLowerCase());
  const comments = (issue: Issue) =>
    call.state.comments.filter((c) => c.repositoryId === repository.id && c.issue === issue.number).length;
  const key = (issue: Issue) =>
    sort === 'comments'
      ? comments(issue)
      : Date.parse(sort === 'updated' ? issue.updatedAt : issue.createdAt);
  const found = [...repository.issues.values()]
    .filter((issue) => wanted === 'all' || issue.state === wanted)
    .filter((issue) => names.every((name) => has(issue, name)))
    .filter((issue) => creator === undefined || issue.author.login.toLowerCase() === creator.toLowerCase())
    .filter((issue) => since === undefined || Date.parse(issue.updatedAt) >= Date.parse(since))
    .sort((a, b) => key(a) - key(b) || a.number - b.number);
  if (direction === 'desc') found.reverse();
  const { page, headers } = paginate(call, found);
  return { status: 200, body: page.map((issue) => issueObject(call.state, repository, issue)), headers };
}

const read = { issues: 'read', pull_requests: 'read' } as const;

export const issueRoutes: Route[] = [
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues',
    as: 'installation',
    needs: read,
    handle: listIssues,
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{issue_number}',
    as: 'installation',
    needs: read,
    handle: (call) => ({
      status: 200,
      body: issueObject(call.state, call.repository, issueIn(call)),
    }),
  },
];
