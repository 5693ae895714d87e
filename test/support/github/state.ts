/** What the double remembers. Commits, trees and refs are not here: they live in real repositories on disk. */

export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';
export type Level = 'read' | 'write';
export type Permissions = Readonly<Record<string, Level>>;

export interface User {
  readonly id: number;
  readonly login: string;
  readonly type: 'User' | 'Bot' | 'Organization';
}

export interface Repository {
  readonly id: number;
  readonly owner: User;
  readonly name: string;
  /** The bare repository. */
  readonly dir: string;
  readonly defaultBranch: string;
  readonly private: boolean;
  readonly parentId: number | null;
  readonly createdAt: string;
  pushedAt: string;
  readonly roles: Map<string, { role: Role; roleName: string }>;
  readonly issues: Map<number, Issue>;
  readonly labels: Label[];
  readonly protectedBranches: Set<string>;
  /** What `author_association` says of a login (in lower case), where a test chose it. */
  readonly associations: Map<string, string>;
  /** Numbers whose issues were deleted: 410 from then on. */
  readonly deletedIssues: Set<number>;
  nextNumber: number;
}

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
  readonly description: string | null;
  readonly default: boolean;
}

/** An issue; a pull request is an issue with a `pull`. */
export interface Issue {
  readonly id: number;
  readonly number: number;
  title: string;
  body: string | null;
  readonly author: User;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'reopened' | null;
  closedAt: string | null;
  locked: boolean;
  /** Objects of the repository's own list. */
  labels: Label[];
  readonly createdAt: string;
  updatedAt: string;
  readonly pull: Pull | null;
}

export type PullIssue = Issue & { readonly pull: Pull };

export interface Pull {
  readonly id: number;
  readonly head: { readonly repository: Repository; readonly ref: string; sha: string };
  baseRef: string;
  draft: boolean;
  /** The base's tip when the pull request was merged or its base deleted; what it shows stays as it was then. */
  frozenBase: string | null;
  merged: { readonly at: string; readonly by: User; readonly sha: string } | null;
}

export interface Annotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_column: number | null;
  readonly end_column: number | null;
  readonly annotation_level: string;
  readonly title: string | null;
  readonly message: string;
  readonly raw_details: string | null;
}

export interface CheckRun {
  readonly id: number;
  readonly repositoryId: number;
  readonly appId: number;
  readonly suiteId: number;
  readonly headSha: string;
  name: string;
  status: string;
  conclusion: string | null;
  externalId: string;
  detailsUrl: string | null;
  startedAt: string | null;
  completedAt: string | null;
  title: string | null;
  summary: string | null;
  text: string | null;
  readonly annotations: Annotation[];
  actions: readonly { label: string; description: string; identifier: string }[];
  /** How often it was written, the creation included. */
  writes: number;
}

export interface ReviewComment {
  readonly id: number;
  readonly reviewId: number;
  readonly path: string;
  readonly body: string;
  readonly line: number;
  readonly side: 'LEFT' | 'RIGHT';
  readonly startLine: number | null;
  readonly startSide: 'LEFT' | 'RIGHT' | null;
  readonly position: number;
  readonly diffHunk: string;
  readonly commitId: string;
  readonly author: User;
  readonly createdAt: string;
}

export interface Review {
  readonly id: number;
  readonly repositoryId: number;
  readonly pull: number;
  readonly author: User;
  readonly body: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'PENDING';
  readonly commitId: string;
  readonly submittedAt: string;
  readonly comments: readonly ReviewComment[];
}

export interface IssueComment {
  readonly id: number;
  readonly repositoryId: number;
  readonly issue: number;
  readonly author: User;
  body: string;
  readonly createdAt: string;
  updatedAt: string;
  readonly reactions: Reaction[];
}

export interface Reaction {
  readonly id: number;
  readonly content: string;
  readonly user: User;
  readonly createdAt: string;
}

export interface Installation {
  readonly id: number;
  readonly account: User;
  permissions: Permissions;
  /** Null: all repositories of the account. */
  repositoryIds: ReadonlySet<number> | null;
  suspended: boolean;
  readonly createdAt: string;
}

export interface Token {
  readonly id: number;
  readonly secret: string;
  readonly installationId: number;
  readonly permissions: Permissions;
  /** Null: every repository of the installation. */
  readonly repositoryIds: ReadonlySet<number> | null;
  readonly expiresAt: number;
}

export interface App {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly clientId: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly webhookSecret: string;
  readonly permissions: Permissions;
  readonly events: readonly string[];
  readonly owner: User;
  readonly bot: User;
}

export interface State {
  readonly dir: string;
  /** Base of REST and of clone URLs: the double's own origin. */
  url: string;
  readonly app: App;
  readonly users: Map<string, User>;
  readonly repositories: Map<number, Repository>;
  readonly installations: Map<number, Installation>;
  readonly tokens: Map<string, Token>;
  readonly checkRuns: CheckRun[];
  readonly reviews: Review[];
  readonly comments: IssueComment[];
  nextId: number;
}

export function takeId(state: State): number {
  return state.nextId++;
}

/** GitHub writes times without fractions of a second. */
export function timestamp(ms: number = Date.now()): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The user of that login, made at first sight. Logins differ in more than case. */
export function ensureUser(state: State, login: string, type: User['type'] = 'User'): User {
  const key = login.toLowerCase();
  const known = state.users.get(key);
  if (known) return known;
  const user: User = { id: takeId(state), login, type };
  state.users.set(key, user);
  return user;
}

export function findRepository(state: State, owner: string, name: string): Repository | undefined {
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  return [...state.repositories.values()].find((r) => same(r.owner.login, owner) && same(r.name, name));
}

/** `owner/name` to the repository; throws where there is none, since a test named it. */
export function repositoryNamed(state: State, fullName: string): Repository {
  const [owner = '', name = ''] = fullName.split('/');
  const repository = findRepository(state, owner, name);
  if (!repository) throw new Error(`the double has no repository ${fullName}`);
  return repository;
}

export function pullOf(repository: Repository, number: number): PullIssue | undefined {
  const issue = repository.issues.get(number);
  return issue?.pull ? (issue as PullIssue) : undefined;
}

export function installationOf(state: State, repository: Repository): Installation | undefined {
  return [...state.installations.values()].find(
    (i) =>
      i.account.id === repository.owner.id &&
      (i.repositoryIds === null || i.repositoryIds.has(repository.id)),
  );
}
