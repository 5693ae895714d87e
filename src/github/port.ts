import type { Octokit } from '@octokit/rest';
import type { ChangeSet } from '../domain/change.ts';
import type { FileMode, PatchEntry } from '../domain/patch.ts';
import type { ListedFile } from '../domain/result-key.ts';
import type { RepositoryRef } from '../domain/task.ts';

/** A REST client that acts as one installation, with throttling, retries of safe requests, and fresh tokens. */
export type InstallationClient = Pick<Octokit, 'rest' | 'request' | 'paginate' | 'log'>;

/** An open issue, as far as a triage compares it. */
export interface OpenIssue {
  readonly number: number;
  readonly title: string;
  /** The first 500 characters of its body. */
  readonly excerpt: string;
}

export interface GitHub {
  /** All labels of the repository, in GitHub's order. */
  readLabels(repository: RepositoryRef): Promise<{ name: string; description: string }[]>;
  /** The newest 100 open issues; pull requests are none. */
  readOpenIssues(repository: RepositoryRef): Promise<OpenIssue[]>;
  /** The slug and id of the app itself, asked once. `slug[bot]` is the login of its own events. */
  self(): Promise<{ id: number; slug: string }>;
  client(installationId: number): Promise<InstallationClient>;
  /**
   * A token that can only read the contents of this one repository, for git. Never leaves the control plane.
   * `fresh`: the token that GitHub refused; another is minted instead of it.
   */
  readToken(repository: RepositoryRef, fresh?: { readonly instead: string }): Promise<string>;
  /**
   * The pull request as GitHub has it now; a text that says why, where there is none. As the other reads it
   * fails with `github_unavailable` or `github_refused`; `retryAfterMs` of the error says when to come back.
   */
  readPullRequest(repository: RepositoryRef, number: number): Promise<PullRequestNow | string>;
  /** The repository as GitHub has it now; a text that says why, where there is none under that id. */
  readRepository(repository: RepositoryRef): Promise<RepositoryNow | string>;
  /** Head commit of a branch; null where there is no such branch, or no commit at all. */
  readBranch(repository: RepositoryRef, branch: string): Promise<string | null>;
  /** The issue (or the issue side of a pull request) as GitHub has it now; a text where there is none. */
  readIssue(repository: RepositoryRef, number: number): Promise<IssueNow | string>;
  /** Open issues with that label, no pull requests, by number; at most `max`, and whether there are more. */
  openIssues(
    repository: RepositoryRef,
    label: string,
    max: number,
  ): Promise<{ readonly issues: readonly IssueNow[]; readonly more: boolean }>;
  /** Number of the open pull request from that branch of the repository itself; null: there is none. */
  pullOfBranch(repository: RepositoryRef, branch: string): Promise<number | null>;
  /** What other apps' newest check runs say of a commit. */
  readChecks(repository: RepositoryRef, commit: string): Promise<ChecksNow>;
  /** A text file of that commit; a reason where it is there but no text. Null: there is no such file. */
  readTextFile(
    repository: RepositoryRef,
    commit: string,
    path: string,
  ): Promise<{ readonly text: string } | { readonly refused: string } | null>;
  /** Never rejects: what cannot be learned is a no. */
  mayCommand(repository: RepositoryRef, login: string, userType: string): Promise<CommandPermission>;
  /** Whether the user may label issues (triage or more). As {@link mayCommand} it never rejects. */
  mayLabel(repository: RepositoryRef, login: string, userType: string): Promise<CommandPermission>;
}

/** Who may give commands, and why or why not, for the audit record. */
export interface CommandPermission {
  readonly allowed: boolean;
  /** GitHub's coarse level: `maintain` shows as `write`, `triage` as `read`. Null where it was not learned. */
  readonly level: string | null;
  readonly reason: string;
}

export interface PullRequestNow {
  readonly repository: RepositoryRef;
  readonly number: number;
  readonly open: boolean;
  readonly draft: boolean;
  readonly headSha: string;
  readonly baseSha: string;
  readonly baseRef: string;
  /** Branch of the head, in the repository itself or in a fork. */
  readonly headRef: string;
  /** The head is in another repository, or in one that is gone. */
  readonly fork: boolean;
  readonly archived: boolean;
  /** Login; empty where the account is gone. */
  readonly author: string;
  readonly title: string;
  readonly body: string;
}

export interface RepositoryNow {
  readonly repository: RepositoryRef;
  readonly defaultBranch: string;
  readonly archived: boolean;
}

export interface IssueNow {
  readonly number: number;
  readonly open: boolean;
  readonly isPull: boolean;
  /** Login; empty where the account is gone. */
  readonly author: string;
  readonly title: string;
  readonly body: string;
}

export interface ChecksNow {
  /** Names of check runs that failed, sorted, each once. */
  readonly failing: readonly string[];
  /** Some have not ended. */
  readonly pending: boolean;
}

/** A bare repository on the host that follows one GitHub repository. */
export interface Mirror extends MirrorWriter {
  readonly dir: string;
  /** Brings the objects of the pull request's head and base in; refs are private. `commit_missing` where gone. */
  fetchPullRequest(number: number, headSha: string, baseSha: string, signal: AbortSignal): Promise<void>;
  has(commit: string): Promise<boolean>;
  mergeBase(a: string, b: string): Promise<string | null>;
  /** Output of `git diff` with `args`, bounded; `diff_too_large` beyond. */
  diff(args: readonly string[], maxBytes: number): Promise<Buffer>;
  /** A blob's bytes; null where there is no such path in that commit or it is larger than `maxBytes`. */
  readFile(commit: string, path: string, maxBytes: number): Promise<Buffer | null>;
  /**
   * What changed from `base` to `head`, as GitHub shows it between the two (renames found, three lines of
   * context). `paths` leaves out all other files; the answer for the ones left is the same.
   */
  changes(base: string, head: string, options: ChangesOptions): Promise<ChangeSet>;
  /** Paths of all files of a commit, in git's order; names that are not UTF-8 are left out. */
  listTree(commit: string): Promise<string[]>;
  /** All files of a commit with their blobs, as {@link listTree}. */
  filesOf(commit: string): Promise<ListedFile[]>;
  /** Sizes of blobs in bytes, by blob id; ids that are not there are left out. */
  blobSizes(blobs: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** A change to a tree: content for a file, null to remove it. */
export interface TreeChange {
  readonly path: string;
  readonly file:
    | { readonly mode: FileMode; readonly content: Buffer }
    | { readonly mode: string; readonly blob: string }
    | null;
}

/** What stands at a path of a tree. */
export interface TreeFile {
  readonly mode: string;
  readonly blob: string;
}

/** One path that differs between two trees; null: nothing stands there. */
export interface TreeDifference {
  /** Its bytes as latin1, since git's paths need not be UTF-8. */
  readonly path: string;
  readonly before: TreeFile | null;
  readonly now: TreeFile | null;
}

export type MergeResult =
  | { readonly clean: true; readonly tree: string }
  /** Paths in conflict, sorted. */
  | { readonly clean: false; readonly conflicts: readonly string[] };

/** The writing side of a mirror. Objects are added, no ref of GitHub's is touched, and no work tree exists. */
export interface MirrorWriter {
  /** Tree of `base` (a commit or tree) with the changes applied; content is hashed raw, without filters. */
  writeTree(base: string, changes: readonly TreeChange[], signal?: AbortSignal): Promise<string>;
  /** A commit object; author, committer and date are fixed, so that the same arguments give the same commit. */
  commitTree(tree: string, parents: readonly string[], message: string): Promise<string>;
  /**
   * Three-way merge of two commits by `git merge-tree --write-tree`; their merge base decides. Renamed files are
   * followed, renamed directories are not: what a side adds stays where that side put it.
   */
  mergeTrees(ours: string, theirs: string): Promise<MergeResult>;
  treeOf(commit: string): Promise<string>;
  /** Trees of many commits (or trees) by their ids; those that are not there are left out. */
  treesOf(commits: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** What differs between the two trees of each pair, symlinks and submodules too; `diff_too_large` beyond 32 MiB. */
  differences(pairs: readonly (readonly [from: string, to: string])[]): Promise<TreeDifference[][]>;
  /** What differs between two trees or commits, without rename detection, sorted by path. */
  compareTrees(from: string, to: string): Promise<PatchEntry[]>;
  /** `git diff --binary --full-index` between two trees or commits; `diff_too_large` beyond `maxBytes`. */
  patchText(from: string, to: string, maxBytes: number): Promise<Buffer>;
  readBlob(blob: string, maxBytes: number): Promise<Buffer>;
  /** Tree of `base` with a patch of {@link patchText} applied; `git_failed` where it does not apply exactly. */
  applyPatch(base: string, patch: Uint8Array): Promise<string>;
  /**
   * Brings a commit in that is, or was, in the history of that branch. `commit_missing` where neither the branch
   * nor the mirror has it any more.
   */
  fetchCommit(commit: string, branch: string, signal: AbortSignal): Promise<void>;
  /** Brings a branch's head in; null when the branch does not exist. */
  fetchBranch(branch: string, signal: AbortSignal): Promise<string | null>;
  /** Brings the present head of a pull request in, from a fork too; null when there is no such pull request. */
  fetchPullHead(number: number, signal: AbortSignal): Promise<string | null>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
}

export interface ChangesOptions {
  /** Size of the whole diff that is still read, bytes; `diff_too_large` beyond. */
  readonly maxBytes: number;
  readonly paths?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Mirrors {
  open(repository: RepositoryRef): Promise<Mirror>;
}
