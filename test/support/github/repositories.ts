import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commitFiles, type Files } from './commits.ts';
import { git, gitText, resolveCommit } from './git.ts';
import {
  ensureUser,
  findRepository,
  type Issue,
  type Repository,
  type State,
  takeId,
  timestamp,
} from './state.ts';

export interface NewRepository {
  /** `owner/name`. */
  readonly fullName: string;
  /** Files of the first commit. */
  readonly files: Files;
  /** Further commits on the default branch, in order. */
  readonly commits?: readonly { readonly message: string; readonly files: Files }[];
  readonly defaultBranch?: string;
  readonly private?: boolean;
  readonly ownerType?: 'User' | 'Organization';
}

/** First second of the double's calendar; each commit is one later, so equal calls make equal ids. */
const firstCommitTime = 1_700_000_000;
const commitTimes = new WeakMap<State, number>();

function nextCommitTime(state: State): number {
  const time = (commitTimes.get(state) ?? firstCommitTime) + 1;
  commitTimes.set(state, time);
  return time;
}

export async function createRepository(state: State, request: NewRepository): Promise<Repository> {
  const [ownerLogin = '', name = ''] = request.fullName.split('/');
  if (findRepository(state, ownerLogin, name)) throw new Error(`${request.fullName} exists already`);
  const owner = ensureUser(state, ownerLogin, request.ownerType ?? 'Organization');
  const defaultBranch = request.defaultBranch ?? 'main';
  const repository = await addRepository(state, {
    owner,
    name,
    defaultBranch,
    private: request.private ?? true,
  });
  await commit(state, repository, { branch: defaultBranch, files: request.files, message: 'Initial commit' });
  for (const next of request.commits ?? [])
    await commit(state, repository, { branch: defaultBranch, ...next });
  return repository;
}

async function addRepository(
  state: State,
  shape: Pick<Repository, 'owner' | 'name' | 'defaultBranch' | 'private'> & { parentId?: number },
): Promise<Repository> {
  const id = takeId(state);
  const dir = join(state.dir, 'repositories', `${id}.git`);
  await mkdir(dir, { recursive: true });
  await git(dir, ['init', '-q', '--bare', `--initial-branch=${shape.defaultBranch}`]);
  // As GitHub serves them: any object it has may be asked for by id, also those only a PR ref holds.
  const settings = ['allowAnySHA1InWant', 'allowReachableSHA1InWant', 'allowTipSHA1InWant', 'allowFilter'];
  const config = settings.map((key) => `\t${key} = true\n`).join('');
  await writeFile(join(dir, 'config'), `[core]\n\tbare = true\n[gc]\n\tauto = 0\n[uploadpack]\n${config}`);
  const now = timestamp();
  const repository: Repository = {
    id,
    dir,
    ...shape,
    parentId: shape.parentId ?? null,
    createdAt: now,
    pushedAt: now,
    roles: new Map(),
    issues: new Map(),
    nextNumber: 1,
  };
  state.repositories.set(id, repository);
  return repository;
}

export interface NewCommit {
  readonly branch: string;
  readonly files: Files;
  readonly message?: string;
  /** Default: the branch's tip. Another commit here is a force-push; null makes a root commit. */
  readonly parent?: string | null;
  readonly author?: string;
}

/** Commits on a branch (made where it is missing, from the default branch) and moves the heads of its open PRs. */
export async function commit(state: State, repository: Repository, request: NewCommit): Promise<string> {
  const { dir, defaultBranch } = repository;
  const tip =
    (await resolveCommit(dir, `refs/heads/${request.branch}`)) ??
    (await resolveCommit(dir, `refs/heads/${defaultBranch}`));
  const parent = request.parent === undefined ? tip : request.parent;
  const sha = await commitFiles(dir, {
    ref: `refs/heads/${request.branch}`,
    parents: parent === null ? [] : [parent],
    files: request.files,
    message: request.message ?? 'Change',
    author: request.author ?? 'mona',
    time: nextCommitTime(state),
  });
  await branchMoved(state, repository, request.branch, sha);
  return sha;
}

/** Points a branch at a commit, forwards or not. */
export async function setBranch(
  state: State,
  repository: Repository,
  branch: string,
  sha: string,
): Promise<void> {
  await git(repository.dir, ['update-ref', `refs/heads/${branch}`, sha]);
  await branchMoved(state, repository, branch, sha);
}

export async function deleteBranch(repository: Repository, branch: string): Promise<void> {
  await git(repository.dir, ['update-ref', '-d', `refs/heads/${branch}`]);
}

/** A fork of the owner: its own bare repository with all branches. */
export async function forkRepository(
  state: State,
  parent: Repository,
  ownerLogin: string,
): Promise<Repository> {
  const existing = findRepository(state, ownerLogin, parent.name);
  if (existing) return existing;
  const fork = await addRepository(state, {
    owner: ensureUser(state, ownerLogin),
    name: parent.name,
    defaultBranch: parent.defaultBranch,
    private: parent.private,
    parentId: parent.id,
  });
  await git(fork.dir, ['fetch', '-q', parent.dir, '+refs/heads/*:refs/heads/*']);
  return fork;
}

async function branchMoved(state: State, repository: Repository, branch: string, sha: string): Promise<void> {
  repository.pushedAt = timestamp();
  for (const base of state.repositories.values()) {
    for (const issue of base.issues.values()) {
      const head = issue.pull?.head;
      if (issue.state !== 'open' || head?.repository !== repository || head.ref !== branch) continue;
      head.sha = sha;
      issue.updatedAt = timestamp();
      await writePullRef(base, issue.number, repository, sha);
    }
  }
}

/** `refs/pull/N/head` in the base repository, as GitHub keeps it; a fork's objects are brought over. */
async function writePullRef(base: Repository, number: number, head: Repository, sha: string): Promise<void> {
  if (head !== base) await git(base.dir, ['fetch', '-q', head.dir, `+${sha}:refs/pull/${number}/head`]);
  else await git(base.dir, ['update-ref', `refs/pull/${number}/head`, sha]);
}

export interface NewPull {
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  readonly headRef: string;
  readonly headRepository?: Repository;
  readonly baseRef?: string;
  readonly draft?: boolean;
}

export async function addPull(state: State, repository: Repository, request: NewPull): Promise<Issue> {
  const headRepository = request.headRepository ?? repository;
  const sha = await gitText(headRepository.dir, [
    'rev-parse',
    '--verify',
    `refs/heads/${request.headRef}^{commit}`,
  ]);
  const number = repository.nextNumber++;
  const now = timestamp();
  const issue: Issue = {
    id: takeId(state),
    number,
    title: request.title ?? `Change ${request.headRef}`,
    body: request.body ?? null,
    author: ensureUser(state, request.author ?? 'mona'),
    state: 'open',
    createdAt: now,
    updatedAt: now,
    pull: {
      id: takeId(state),
      head: { repository: headRepository, ref: request.headRef, sha },
      baseRef: request.baseRef ?? repository.defaultBranch,
      draft: request.draft ?? false,
    },
  };
  await writePullRef(repository, number, headRepository, sha);
  repository.issues.set(number, issue);
  return issue;
}

export function addIssue(
  state: State,
  repository: Repository,
  request: { title: string; body?: string | null; author?: string },
): Issue {
  const number = repository.nextNumber++;
  const now = timestamp();
  const issue: Issue = {
    id: takeId(state),
    number,
    title: request.title,
    body: request.body ?? null,
    author: ensureUser(state, request.author ?? 'mona'),
    state: 'open',
    createdAt: now,
    updatedAt: now,
    pull: null,
  };
  repository.issues.set(number, issue);
  return issue;
}
