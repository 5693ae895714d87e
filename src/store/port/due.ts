/** What the rows say is due: the reconciler's questions. */
export interface DueWork {
  deliveries(olderThanMs: number): Promise<string[]>;
  /** Ids of tasks in that phase, with their priority. Those in `publishing` only once their pause is over. */
  tasks(phase: 'planning' | 'running' | 'publishing'): Promise<{ id: string; priority: number }[]>;
  /**
   * Tasks over their time limit end with what they have: what is open in them fails as `task_limit`. Returns those
   * that changed.
   */
  endOverdue(limitMs: number): Promise<string[]>;
  /** Finished tasks whose check run was never concluded, and not tried again for that long. */
  checkRuns(olderThanMs: number): Promise<{ id: string; priority: number }[]>;
  /** Attempts that wait, as many as it makes sense to wake workers for. */
  attempts(olderThanMs: number): Promise<{ id: string; repositoryId: number; priority: number }[]>;
  /**
   * Marks running attempts without a sign of life for `leaseMs` as lost, and settles what they had reserved as spent;
   * returns their task ids.
   */
  loseAttempts(leaseMs: number): Promise<string[]>;
}
