import type { SkippedFile } from '../../domain/change.ts';
import type { Failure } from '../../domain/failure.ts';
import type { Plan } from '../../domain/matrix.ts';
import type { SubjectIssue, TaskOutcome } from '../../domain/task.ts';
import type { Task } from '../port.ts';

export type NewTask = Pick<
  Task,
  | 'kind'
  | 'key'
  | 'installationId'
  | 'repositoryId'
  | 'owner'
  | 'repo'
  | 'number'
  | 'headSha'
  | 'baseSha'
  | 'baseRef'
  | 'title'
  | 'body'
  | 'trigger'
  | 'config'
  | 'priority'
> &
  Partial<Pick<Task, 'subject' | 'instruction' | 'issues' | 'targetRef' | 'fork' | 'planOnly'>> & {
    /** Begins in `held`: it waits for {@link Tasks.release}. */
    readonly held?: boolean;
    /** Nothing is to be run for it: it goes straight to publishing, succeeded. */
    readonly done?: boolean;
    /** Set when the task is over before it began (a broken repository file): it goes straight to publishing. */
    readonly failure: Failure | null;
  };

export interface Tasks {
  /**
   * Inserts the task unless its key is known. A review settles, in the same transaction, the open reviews of
   * the same pull request as `superseded`; `superseded` holds the ids of those.
   */
  create(task: NewTask): Promise<{ task: Task; created: boolean; superseded: string[] }>;
  get(id: string): Promise<Task | null>;
  /** Null as well while its publishing pauses; see {@link Tasks.pausePublishing}. */
  toPublish(id: string): Promise<Task | null>;
  /** Of that issue or pull request, and the batches that have the issue. Newest first. */
  ofPull(repositoryId: number, number: number): Promise<Task[]>;
  /** Those that wait for an approval, oldest first. */
  heldIn(repositoryId: number): Promise<Task[]>;
  /**
   * Settles an open task: outcome set, phase `publishing`, open subtasks and live attempts cancelled, all
   * in one transaction. False when it was settled already. Failed as a whole, it is kept as a dead letter.
   */
  settle(id: string, outcome: TaskOutcome, failure: Failure | null): Promise<boolean>;
  /** Counts a try of planning and returns how many there were; null when the task is not in `planning`. */
  beginPlanning(id: string): Promise<number | null>;
  /**
   * Stores the plan's rows and moves the task to `running`, or, where it is planned only, to `publishing` with rows
   * that are skipped. False when it left `planning` meanwhile.
   */
  storePlan(
    id: string,
    plan: Plan,
    facts: { mergeBase: string; skipped: readonly SkippedFile[]; filesChanged: number },
  ): Promise<boolean>;
  /**
   * Adds an issue to the repository's gathering batch and moves its start to `quietMs` from now, or begins a
   * batch with it. An issue that an open batch already has changes nothing. Where the batch that gathers has
   * `maxIssues` already, it starts at once and the issue begins the next.
   */
  gather(
    task: NewTask,
    issue: SubjectIssue,
    limits: { readonly maxIssues: number; readonly quietMs: number },
  ): Promise<{ task: Task; created: boolean }>;
  /** `held -> planning`. False when it is not held. */
  release(id: string): Promise<boolean>;
  /** Held tasks whose time has come go to `planning`; returns them. */
  releaseDue(): Promise<{ id: string; priority: number }[]>;
  /**
   * The target moved: an integrating subtask of a task in `publishing` runs again. False when the task is not
   * in `publishing`.
   */
  reopenIntegration(id: string, subtaskId: string): Promise<boolean>;
  /**
   * Counts a failed publish of the task as it was read before, and lets none begin for `pauseMs`. False when the
   * row has moved on meanwhile (another replica counted, or the phase changed): then nothing is written.
   */
  pausePublishing(seen: Pick<Task, 'id' | 'phase' | 'publishTries'>, pauseMs: number): Promise<boolean>;
  /** A publish succeeded: the next failure is the first again. */
  resumePublishing(id: string): Promise<void>;
  /** `publishing -> finished`, once everything was published. */
  finish(id: string): Promise<void>;
  /** The same where publishing as a whole was given up, which is kept as a dead letter. */
  giveUpPublishing(id: string, failure: Failure, detail: Record<string, unknown>): Promise<void>;
}
