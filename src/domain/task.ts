/** Tasks, subtasks and attempts: their states and the predicates on them. */

export const taskKinds = ['review'] as const;
export type TaskKind = (typeof taskKinds)[number];

/**
 * `planning -> running -> publishing -> finished`. A task that is cancelled, superseded or failed jumps to
 * `publishing` from wherever it is: its check run must still conclude.
 */
export const taskPhases = ['planning', 'running', 'publishing', 'finished'] as const;
export type TaskPhase = (typeof taskPhases)[number];

/** Null until the work is over; set from `publishing` on. `partial`: some subtasks failed. */
export const taskOutcomes = ['succeeded', 'partial', 'failed', 'cancelled', 'superseded'] as const;
export type TaskOutcome = (typeof taskOutcomes)[number];

export const subtaskStatuses = ['waiting', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'] as const;
export type SubtaskStatus = (typeof subtaskStatuses)[number];

export const attemptStatuses = ['queued', 'running', 'succeeded', 'failed', 'lost', 'cancelled'] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/** What in a delivery (or API call) asked for the task. Frozen at trigger time. */
export interface Trigger {
  readonly kind: 'pull_request' | 'command';
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
