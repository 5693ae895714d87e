import { gitText } from './git.ts';
import { findOrAddLabel } from './label-list.ts';
import { writePullRef } from './move-refs.ts';
import {
  ensureUser,
  type Issue,
  type PullIssue,
  type Repository,
  type State,
  takeId,
  timestamp,
} from './state.ts';

export interface NewPull {
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  readonly headRef: string;
  readonly headRepository?: Repository;
  readonly baseRef?: string;
  readonly draft?: boolean;
}

export async function addPull(state: State, repository: Repository, request: NewPull): Promise<PullIssue> {
  const headRepository = request.headRepository ?? repository;
  const ref = `refs/heads/${request.headRef}^{commit}`;
  const sha = await gitText(headRepository.dir, ['rev-parse', '--verify', ref]);
  const { title = `Change ${request.headRef}`, body = null, author } = request;
  const pull = {
    id: takeId(state),
    head: { repository: headRepository, ref: request.headRef, sha },
    baseRef: request.baseRef ?? repository.defaultBranch,
    draft: request.draft ?? false,
    frozenBase: null,
    merged: null,
  };
  const issue = { ...newIssue(state, repository, { title, body, ...(author ? { author } : {}) }), pull };
  await writePullRef(repository, issue.number, headRepository, sha);
  repository.issues.set(issue.number, issue);
  return issue;
}

export interface NewIssue {
  readonly title: string;
  readonly body?: string | null;
  /** Login; default `mona`. */
  readonly author?: string;
  /** Made where the repository does not have them. */
  readonly labels?: readonly string[];
  /** What `author_association` says of the author in this repository from now on. */
  readonly association?: string;
}

export function addIssue(state: State, repository: Repository, request: NewIssue): Issue {
  const issue = newIssue(state, repository, request);
  issue.labels = (request.labels ?? []).map((name) => findOrAddLabel(state, repository, name));
  const login = issue.author.login.toLowerCase();
  if (request.association !== undefined) repository.associations.set(login, request.association);
  repository.issues.set(issue.number, issue);
  return issue;
}

function newIssue(state: State, repository: Repository, request: NewIssue): Issue {
  const now = timestamp();
  return {
    id: takeId(state),
    number: repository.nextNumber++,
    title: request.title,
    body: request.body ?? null,
    author: ensureUser(state, request.author ?? 'mona'),
    state: 'open',
    stateReason: null,
    closedAt: null,
    locked: false,
    labels: [],
    createdAt: now,
    updatedAt: now,
    pull: null,
  };
}
