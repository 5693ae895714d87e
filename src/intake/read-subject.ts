import type { RepositoryRef, SubjectIssue } from '../domain/task.ts';
import type { GitHub, IssueNow } from '../github/port.ts';
import type { NewTask } from '../store/port/tasks.ts';
import type { Words } from './trigger-decision.ts';

/** Where work starts from and goes to, as GitHub has it now. */
export interface Place {
  readonly repository: RepositoryRef;
  /** The commit that agents start from. */
  readonly headSha: string;
  /** The commit whose repository file holds. */
  readonly baseSha: string;
  readonly baseRef: string;
  /** Branch the result is for. */
  readonly targetRef: string;
  readonly fork: boolean;
}

/** The open issue or pull request that a request is about. */
export interface Subject extends Place {
  readonly subject: 'pull_request' | 'issue';
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly author: string;
}

type Reads = Pick<GitHub, 'readRepository' | 'readBranch' | 'readIssue' | 'readPullRequest'>;

/** Work that starts from the head of a branch and is for that branch. */
export function onBranch(repository: RepositoryRef, branch: string, headSha: string): Place {
  return { repository, headSha, baseSha: headSha, baseRef: branch, targetRef: branch, fork: false };
}

/** The head of the default branch; a text that says why nothing can be done there. */
export async function readDefaultBranch(github: Reads, repository: RepositoryRef): Promise<Place | string> {
  const now = await github.readRepository(repository);
  if (typeof now === 'string') return now;
  if (now.archived) return 'the repository is archived';
  const head = await github.readBranch(now.repository, now.defaultBranch);
  if (head === null) return 'the repository is empty';
  return onBranch(now.repository, now.defaultBranch, head);
}

/**
 * What the number is about, in the words that were there when it was asked; a text that says why nothing
 * can be done for it, found before anything is spent.
 */
export async function readSubject(
  github: Reads,
  repository: RepositoryRef,
  number: number,
  isPull: boolean,
  words: Words | null,
): Promise<Subject | string> {
  const read = isPull ? readPull : readIssue;
  const subject = await read(github, repository, number);
  return typeof subject === 'string' ? subject : { ...subject, ...words };
}

async function readPull(github: Reads, repository: RepositoryRef, number: number): Promise<Subject | string> {
  const pull = await github.readPullRequest(repository, number);
  if (typeof pull === 'string') return pull;
  if (pull.archived) return 'the repository is archived';
  if (!pull.open) return 'the pull request is closed';
  const { headSha, baseSha, baseRef, headRef: targetRef, fork, title, body, author } = pull;
  const place = { repository: pull.repository, headSha, baseSha, baseRef, targetRef, fork };
  return { subject: 'pull_request', number, ...place, title, body, author };
}

async function readIssue(
  github: Reads,
  repository: RepositoryRef,
  number: number,
): Promise<Subject | string> {
  const place = await readDefaultBranch(github, repository);
  if (typeof place === 'string') return place;
  const issue = await github.readIssue(place.repository, number);
  if (typeof issue === 'string') return issue;
  if (issue.isPull) return 'it is a pull request';
  if (!issue.open) return 'the issue is closed';
  const { title, body, author } = issue;
  return { subject: 'issue', number, ...place, title, body, author };
}

/** The columns of a task that say where it is done. */
export function columnsOf(place: Place): Pick<
  NewTask,
  'installationId' | 'repositoryId' | 'owner' | 'repo' | 'headSha' | 'baseSha' | 'baseRef'
> & {
  targetRef: string;
  fork: boolean;
} {
  const { repository, headSha, baseSha, baseRef, targetRef, fork } = place;
  return {
    installationId: repository.installationId,
    repositoryId: repository.id,
    owner: repository.owner,
    repo: repository.name,
    headSha,
    baseSha,
    baseRef,
    targetRef,
    fork,
  };
}

export function frozen({ number, title, body }: IssueNow | Subject): SubjectIssue {
  return { number, title, body };
}
