/** Tasks, subtasks and attempts: their states and the predicates on them. */

/**
 * `review` findings on a pull request; `fix` a change for a request; `triage` labels and questions for an issue;
 * `batch` fixes for many issues; `campaign` a fix that a push starts.
 */
export const taskKinds = ['review', 'fix', 'triage', 'batch', 'campaign'] as const;
export type TaskKind = (typeof taskKinds)[number];

/** What a task is about. A campaign is about a branch. */
export type SubjectKind = 'pull_request' | 'issue' | 'branch';

/** An issue of a batch, frozen at trigger time. */
export interface SubjectIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
}

/**
 * `agent`: one agent works on it. `integrate`: the system merges what the rows before it made and verifies the
 * whole.
 */
export const subtaskKinds = ['agent', 'integrate'] as const;
export type SubtaskKind = (typeof subtaskKinds)[number];

/**
 * `held -> planning -> running -> publishing -> finished`. A held task waits for a maintainer's approval, or for a
 * batch to be complete. A task that is cancelled, superseded or failed jumps to
 * `publishing` from wherever it is: its check run must still conclude.
 */
export const taskPhases = ['held', 'planning', 'running', 'publishing', 'finished'] as const;
export type TaskPhase = (typeof taskPhases)[number];

/** Null until the work is over; set from `publishing` on. `partial`: some subtasks failed. */
export const taskOutcomes = ['succeeded', 'partial', 'failed', 'cancelled', 'superseded'] as const;
export type TaskOutcome = (typeof taskOutcomes)[number];

/** `split`: smaller rows have taken its place. */
export const subtaskStatuses = [
  'waiting',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
  'split',
] as const;
export type SubtaskStatus = (typeof subtaskStatuses)[number];

export const attemptStatuses = ['queued', 'running', 'succeeded', 'failed', 'lost', 'cancelled'] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

export function isOpen(status: SubtaskStatus): boolean {
  return status === 'waiting' || status === 'running';
}

/** What in a delivery (or API call) asked for the task. Frozen at trigger time. */
export interface Trigger {
  readonly kind: 'pull_request' | 'command' | 'label' | 'issue' | 'push';
  /** The event's action (`opened`, ...) or the command's name (`review`). */
  readonly name: string;
  readonly actor: string;
  readonly deliveryId: string;
  /** The comment that holds the command; null for events. */
  readonly commentId: number | null;
}

/** A repository as GitHub names it, with the installation that gives access to it. */
export interface RepositoryRef {
  readonly installationId: number;
  readonly id: number;
  readonly owner: string;
  readonly name: string;
}

/** The pull request a review is about, with its commits frozen at trigger time. */
export interface PullRequestRef {
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  /** Branch name without `refs/heads/`. */
  readonly baseRef: string;
}
