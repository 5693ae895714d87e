import type { Attempt, CandidateRow, FindingRow, PatchRow, Subtask, Task, TriageRow } from '../port.ts';

/** Everything a page, a comment or a check run shows of one task. Subtasks by row, findings by row and position. */
export interface TaskView {
  readonly task: Task;
  readonly subtasks: readonly Subtask[];
  readonly attempts: readonly Attempt[];
  readonly findings: readonly FindingRow[];
  /** By row. */
  readonly patches: readonly PatchRow[];
  readonly candidates: readonly CandidateRow[];
  readonly triages: readonly TriageRow[];
  readonly spend: { readonly calls: number; readonly tokens: number; readonly costMicros: number };
}

export interface Views {
  task(id: string): Promise<TaskView | null>;
  /** The newest review of each pull request for that head, ordered by pull request. */
  head(repositoryId: number, headSha: string): Promise<TaskView[]>;
  /**
   * Fingerprints of findings that earlier tasks of this pull request already published in a review.
   */
  published(repositoryId: number, number: number, exceptTask: string): Promise<Set<string>>;
  /** What waits for what in a task, by ids of subtasks. */
  dependencies(taskId: string): Promise<{ subtaskId: string; dependsOn: string }[]>;
}
