/** How stages ask for work to be done later, by any replica. Jobs carry ids, never payloads. */

export const jobKinds = ['admit', 'plan', 'advance', 'run', 'publish'] as const;
export type JobKind = (typeof jobKinds)[number];

export interface Queue {
  /**
   * Asks for a job. Asking again while it waits changes nothing; asking while it runs makes it run once
   * more afterwards (so no wake-up is lost). Best effort: what is lost here is found in the rows by the
   * reconciler. `id`: delivery for `admit`, attempt for `run`, else task.
   */
  enqueue(kind: Exclude<JobKind, 'run'>, id: string, options?: JobOptions): Promise<void>;
  /** Wakes a worker: an attempt was queued. Which one it takes is decided by the rows. */
  enqueueRun(attemptId: string, repositoryId: number, options?: JobOptions): Promise<void>;
}

export interface JobOptions {
  /** Lower runs first, 1 to 2,097,152. Default 20. */
  readonly priority?: number;
  readonly delayMs?: number;
}
