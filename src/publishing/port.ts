import type { RepositoryRef } from '../domain/task.ts';

/** What the rest of the product may ask of publishing. Every call is idempotent and safe to repeat after a kill. */
export interface Publisher {
  /**
   * Brings GitHub to what the rows say of the task: its check run, its review once the work is over, the
   * comment of the command that asked for it. Writes nothing that GitHub already has. Finishes a task in
   * `publishing` once all is there. Asks the queue for a later call when an update came too soon.
   */
  publish(taskId: string, signal: AbortSignal): Promise<void>;
  react(repository: RepositoryRef, commentId: number, content: 'eyes' | 'confused'): Promise<void>;
  /** The one comment that answers a command; the same comment is updated by later calls. */
  reply(repository: RepositoryRef, issue: number, commentId: number, body: string): Promise<void>;
  /** Says once, on our own pull request, that checks of its head fail. */
  reportCi(
    taskId: string,
    report: { repository: RepositoryRef; pull: number; headSha: string; failing: readonly string[] },
  ): Promise<void>;
}
