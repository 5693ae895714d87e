import { gitText, mergeBase, resolveCommit, tryGit } from './git.ts';
import {
  association,
  labelObject,
  nodeId,
  repositoryHtmlUrl,
  repositoryObject,
  repositoryUrl,
  userObject,
} from './objects.ts';
import {
  invalid,
  type Json,
  notFound,
  numberParam,
  paginate,
  type RepositoryCall,
  type Route,
} from './router.ts';
import { type PullIssue, pullOf, type Repository, type State } from './state.ts';

/** Tip of the base branch, or what it was when the pull request ended; the head's own where there is neither. */
export async function baseShaOf(repository: Repository, issue: PullIssue): Promise<string> {
  if (issue.pull.frozenBase !== null) return issue.pull.frozenBase;
  const tip = await resolveCommit(repository.dir, `refs/heads/${issue.pull.baseRef}`);
  return tip ?? issue.pull.head.sha;
}

/** A pull request as lists show it. */
export async function simplePull(state: State, repository: Repository, issue: PullIssue): Promise<Json> {
  const { pull } = issue;
  const api = repositoryUrl(state, repository);
  const self = `${api}/pulls/${issue.number}`;
  const html = `${repositoryHtmlUrl(state, repository)}/pull/${issue.number}`;
  const comments = `${api}/issues/${issue.number}/comments`;
  const statuses = `${api}/statuses/${pull.head.sha}`;
  const side = (of: Repository, ref: string, sha: string): Json => ({
    label: `${of.owner.login}:${ref}`,
    ref,
    sha,
    user: userObject(state, of.owner),
    repo: repositoryObject(state, of),
  });
  const links = {
    self,
    html,
    issue: `${api}/issues/${issue.number}`,
    comments,
    review_comments: `${self}/comments`,
    review_comment: `${api}/pulls/comments{/number}`,
    commits: `${self}/commits`,
    statuses,
  };
  return {
    url: self,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: links.issue,
    number: issue.number,
    state: issue.state,
    locked: issue.locked,
    title: issue.title,
    user: userObject(state, issue.author),
    body: issue.body,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    merged_at: pull.merged?.at ?? null,
    merge_commit_sha: pull.merged?.sha ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: issue.labels.map((label) => labelObject(state, repository, label)),
    milestone: null,
    draft: pull.draft,
    commits_url: links.commits,
    review_comments_url: links.review_comments,
    review_comment_url: links.review_comment,
    comments_url: comments,
    statuses_url: statuses,
    head: side(pull.head.repository, pull.head.ref, pull.head.sha),
    base: side(repository, pull.baseRef, await baseShaOf(repository, issue)),
    _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
    author_association: association(repository, issue.author),
    auto_merge: null,
    active_lock_reason: null,
  };
}

/** A pull request in full, its numbers counted by git. */
export async function fullPull(state: State, repository: Repository, issue: PullIssue): Promise<Json> {
  const { dir } = repository;
  const head = issue.pull.head.sha;
  const base = await baseShaOf(repository, issue);
  const from = (await mergeBase(dir, base, head)) ?? base;
  const [stat, commits, merge] = await Promise.all([
    gitText(dir, ['diff', '--shortstat', '-M', from, head]),
    gitText(dir, ['rev-list', '--count', `${base}..${head}`]),
    tryGit(dir, ['merge-tree', '--write-tree', '--no-messages', base, head]),
  ]);
  const count = (pattern: RegExp) => Number(pattern.exec(stat)?.[1] ?? 0);
  const here = { repositoryId: repository.id, number: issue.number };
  const reviews = state.reviews.filter((r) => r.repositoryId === here.repositoryId && r.pull === here.number);
  const open = issue.state === 'open';
  return {
    ...(await simplePull(state, repository, issue)),
    merged: issue.pull.merged !== null,
    mergeable: open ? merge.code === 0 : null,
    rebaseable: open ? merge.code === 0 : null,
    mergeable_state: open ? (merge.code === 0 ? 'clean' : 'dirty') : 'unknown',
    merged_by: issue.pull.merged ? userObject(state, issue.pull.merged.by) : null,
    comments: state.comments.filter((c) => c.repositoryId === here.repositoryId && c.issue === here.number)
      .length,
    review_comments: reviews.flatMap((r) => r.comments).length,
    maintainer_can_modify: false,
    commits: Number(commits),
    additions: count(/(\d+) insertion/),
    deletions: count(/(\d+) deletion/),
    changed_files: count(/(\d+) file/),
  };
}

export function pullIn(call: RepositoryCall): PullIssue {
  const issue = pullOf(call.repository, numberParam(call, 'pull_number'));
  if (!issue) throw notFound();
  return issue;
}

function allPulls(repository: Repository): PullIssue[] {
  return [...repository.issues.values()].filter((i): i is PullIssue => i.pull !== null).reverse();
}

async function listPulls(call: RepositoryCall) {
  const { state = 'open', head, base, direction } = call.query;
  const found = allPulls(call.repository).filter(
    ({ pull, state: own }) =>
      (state === 'all' || own === state) &&
      (!head || `${pull.head.repository.owner.login}:${pull.head.ref}` === head) &&
      (!base || pull.baseRef === base),
  );
  if (direction === 'asc') found.reverse();
  const { page, headers } = paginate(call, found);
  const body = await Promise.all(page.map((issue) => simplePull(call.state, call.repository, issue)));
  return { status: 200, body, headers };
}

async function pullsOfCommit(call: RepositoryCall) {
  const { dir } = call.repository;
  const sha = await resolveCommit(dir, call.params['commit_sha'] ?? '');
  if (!sha)
    throw invalid('Commit', 'sha', 'invalid', `No commit found for SHA: ${call.params['commit_sha']}`);
  const found: PullIssue[] = [];
  for (const issue of allPulls(call.repository)) {
    const base = await baseShaOf(call.repository, issue);
    const list = await gitText(dir, ['rev-list', `${base}..${issue.pull.head.sha}`]);
    if (list.split('\n').includes(sha)) found.push(issue);
  }
  const { page, headers } = paginate(call, found);
  const body = await Promise.all(page.map((issue) => simplePull(call.state, call.repository, issue)));
  return { status: 200, body, headers };
}

/** Whether GitHub counts the commit as part of the pull request now. */
export async function isPartOfPull(repository: Repository, issue: PullIssue, sha: string): Promise<boolean> {
  const base = await baseShaOf(repository, issue);
  const { code, stdout } = await tryGit(repository.dir, ['rev-list', `${base}..${issue.pull.head.sha}`]);
  return code === 0 && stdout.toString('utf8').split('\n').includes(sha);
}

export const pullRoutes: Route[] = [
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/pulls',
    as: 'installation',
    needs: { pull_requests: 'read' },
    handle: listPulls,
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/pulls/{pull_number}',
    as: 'installation',
    needs: { pull_requests: 'read' },
    handle: async (call) => ({
      status: 200,
      body: await fullPull(call.state, call.repository, pullIn(call)),
    }),
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{commit_sha}/pulls',
    as: 'installation',
    needs: { pull_requests: 'read' },
    handle: pullsOfCommit,
  },
];
