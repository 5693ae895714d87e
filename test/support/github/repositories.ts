import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commitFiles, type Files } from './commits.ts';
import { git, resolveCommit } from './git.ts';
import { refMoved } from './move-refs.ts';
import type { Effect } from './router.ts';
import {
  ensureUser,
  findRepository,
  type Label,
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
  /** Default: the nine labels GitHub gives a new repository. */
  readonly labels?: readonly { name: string; color?: string; description?: string | null }[];
}

const usualLabels = [
  { name: 'bug', color: 'd73a4a', description: "Something isn't working" },
  { name: 'documentation', color: '0075ca', description: 'Improvements or additions to documentation' },
  { name: 'duplicate', color: 'cfd3d7', description: 'This issue or pull request already exists' },
  { name: 'enhancement', color: 'a2eeef', description: 'New feature or request' },
  { name: 'good first issue', color: '7057ff', description: 'Good for newcomers' },
  { name: 'help wanted', color: '008672', description: 'Extra attention is needed' },
  { name: 'invalid', color: 'e4e669', description: "This doesn't seem right" },
  { name: 'question', color: 'd876e3', description: 'Further information is requested' },
  { name: 'wontfix', color: 'ffffff', description: 'This will not be worked on' },
];

/** First second of the double's calendar; each commit is one later, so equal calls make equal ids. */
const firstCommitTime = 1_700_000_000;
const commitTimes = new WeakMap<State, number>();

export function nextCommitTime(state: State): number {
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
  const given: NonNullable<NewRepository['labels']> = request.labels ?? usualLabels;
  const usual = request.labels === undefined;
  for (const { name: label, color, description } of given) {
    const more = { color: color ?? 'ededed', description: description ?? null, default: usual };
    repository.labels.push({ id: takeId(state), name: label, ...more } satisfies Label);
  }
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
    labels: [],
    protectedBranches: new Set(),
    associations: new Map(),
    deletedIssues: new Set(),
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
  return (await commitAndTell(state, repository, request)).sha;
}

/** As {@link commit}; says what GitHub tells of it as well. */
export async function commitAndTell(
  state: State,
  repository: Repository,
  request: NewCommit,
): Promise<{ sha: string; before: string | null; effects: Effect[] }> {
  const { dir, defaultBranch } = repository;
  const ref = `refs/heads/${request.branch}`;
  const before = await resolveCommit(dir, ref);
  const tip = before ?? (await resolveCommit(dir, `refs/heads/${defaultBranch}`));
  const parent = request.parent === undefined ? tip : request.parent;
  const sha = await commitFiles(dir, {
    ref,
    parents: parent === null ? [] : [parent],
    files: request.files,
    message: request.message ?? 'Change',
    author: request.author ?? 'mona',
    time: nextCommitTime(state),
  });
  return { sha, before, effects: await refMoved(state, repository, ref, before, sha) };
}

/** Points a branch at a commit, forwards or not; null deletes it. Says what GitHub tells of it. */
export async function setBranch(
  state: State,
  repository: Repository,
  branch: string,
  sha: string | null,
): Promise<Effect[]> {
  const ref = `refs/heads/${branch}`;
  const before = await resolveCommit(repository.dir, ref);
  if (sha === null) await git(repository.dir, ['update-ref', '-d', ref]);
  else await git(repository.dir, ['update-ref', ref, sha]);
  return refMoved(state, repository, ref, before, sha);
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
