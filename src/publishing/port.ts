import type { RepositoryRef } from '../domain/task.ts';

/** What the rest of the product may ask of publishing. Every call is idempotent and safe to repeat after a kill. */
export interface Publisher {
  /**
   * Brings GitHub to what the rows say of the task. A review: its check run, its review once the work is over, the
   * comment of the command that asked for it. A change: its branch and draft pull request, labels, comments. A
   * triage: labels and a comment. Where the target of a change moved, its integration is opened again. Writes nothing that GitHub already has. Finishes a task in
   * `publishing` once all is there. Asks the queue for a later call when an update came too soon.
   */
  publish(taskId: string, signal: AbortSignal): Promise<void>;
  react(repository: RepositoryRef, commentId: number, content: 'eyes' | 'confused'): Promise<void>;
  /** The one comment that answers a command; the same comment is updated by later calls. */
  reply(repository: RepositoryRef, issue: number, commentId: number, body: string): Promise<void>;
  /** The CI of a pull request of ours is red: one comment there per head, which names the checks. */
  reportCi(taskId: string, report: CiReport): Promise<void>;
}

export interface CiReport {
  /** Number of our pull request. */
  readonly pull: number;
  readonly headSha: string;
  /** Names of the checks that failed; data from outside. */
  readonly failing: readonly string[];
}
