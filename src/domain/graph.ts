import type { Candidate } from './candidate.ts';
import type { Failure } from './failure.ts';
import type { RequestedRow } from './fork.ts';
import type { MatrixRow } from './matrix.ts';
import type { AttemptStatus, SubtaskKind, SubtaskStatus, TaskOutcome } from './task.ts';

/**
 * The graph of a task as the scheduler sees it, and what it may decide about it. It sees open ends alone: first the
 * rows whose newest attempt is over, until none is left; then those that can start.
 */
export type GraphState = EndedState | ReadyState;

export interface EndedState {
  readonly step: 'ended';
  /** By row; at least one. */
  readonly ended: readonly EndedRow[];
  /** Of `limits.task_retries`, by all rows together. */
  readonly retriesUsed: number;
  /** The rows that candidates of `ended` left out. */
  readonly culprits: readonly Culprit[];
  /** Every row of the task, where one of `ended` asks for further rows; else empty. By row. */
  readonly rows: readonly TaskRow[];
  /** Rows of agents that the task may have, those included that its agents ask for. */
  readonly maxRows: number;
  /** `verify.protected` of the repository file: what no agent may ask for. */
  readonly protectedGlobs?: readonly string[];
}

/** A running row whose newest attempt is over. */
export interface EndedRow {
  readonly id: string;
  readonly row: number;
  readonly kind: SubtaskKind;
  readonly issue: number | null;
  readonly title: string;
  readonly agent: string;
  /** Agents that may still be tried, in order. */
  readonly fallbacks: readonly string[];
  readonly matrix: MatrixRow;
  readonly complexity: number;
  /** How often it was cut from a larger row. */
  readonly depth: number;
  /** Attempts of this run that failed by themselves, and workers that died over it. */
  readonly failures: number;
  readonly deaths: number;
  /** Memory its sandboxes had, MiB; null: the operator's default. */
  readonly memoryMib: number | null;
  /** See {@link Culprit}. */
  readonly verificationReruns: number;
  readonly conflictReruns: number;
  /** The commit it began with; null: the task's head. */
  readonly base: string | null;
  readonly attempt: AttemptStatus;
  /** Why the attempt failed; null where it succeeded, or nobody could say. */
  readonly failure: Failure | null;
  /** Whether its agent had finished a turn. */
  readonly progressed: boolean;
  readonly requested: readonly RequestedRow[];
  /** What an integrating row gave. */
  readonly candidate: Candidate | null;
}

/** A row whose work a candidate left out. */
export interface Culprit {
  readonly id: string;
  readonly status: SubtaskStatus;
  /** Times it ran again after its patch, or the candidate with it, failed the checks; and after a conflict. */
  readonly verificationReruns: number;
  readonly conflictReruns: number;
  /** Ids of the rows it depends on, and of those that depend on it, directly or through others. */
  readonly above: readonly string[];
  readonly below: readonly string[];
  /**
   * It cannot run now: an agent works on one of these, or will, and may use its scope; or what it needs the success of
   * has failed since.
   */
  readonly blocked: boolean;
}

/** What a row that an agent asks for is held against. */
export interface TaskRow {
  readonly id: string;
  readonly row: number;
  readonly kind: SubtaskKind;
  readonly issue: number | null;
  readonly status: SubtaskStatus;
  readonly title: string;
  readonly writes: readonly string[];
}

export interface ReadyState {
  readonly step: 'ready';
  /** Ids of rows that may start now, the longest remaining path first: as many as there is room for, or all. */
  readonly ready: readonly string[];
  /** Rows with a live attempt. */
  readonly live: number;
  /** Attempts of the task that may be live at once. */
  readonly parallel: number;
  /** When the first of those that pause may start, milliseconds since the epoch; null: none pauses. */
  readonly nextStart: number | null;
  /** How the rows ended; null while one is live, or can be. */
  readonly tally: Tally | null;
}

/** Rows that were split do not count. */
export interface Tally {
  readonly agents: { readonly succeeded: number; readonly total: number };
  readonly integrations: { readonly succeeded: number; readonly total: number };
}

export type Action =
  | { readonly type: 'start'; readonly id: string }
  /** Its result counts. */
  | { readonly type: 'complete'; readonly id: string }
  /** Back to waiting, not to be started before `notBefore`. `counted`: it is one of the task's retries. */
  | { readonly type: 'retry'; readonly id: string; readonly notBefore: number; readonly counted: boolean }
  | EnlargeAction
  /** Begins anew with another agent; `rest`: those that are left after it. */
  | {
      readonly type: 'fallback';
      readonly id: string;
      readonly agent: string;
      readonly rest: readonly string[];
    }
  | RerunAction
  | SplitAction
  | ForkAction
  /** An integrating row waits anew for what it integrates. */
  | { readonly type: 'again'; readonly id: string }
  /** For good. What needs its success is skipped by name, and what needs that. */
  | { readonly type: 'fail'; readonly id: string; readonly failure: Failure }
  | { readonly type: 'settle'; readonly outcome: TaskOutcome }
  /** Nothing to do before then. */
  | { readonly type: 'wake'; readonly at: number };

/**
 * Ran out of memory: back to waiting, to be tried with more. Neither a failure of the row nor one of the task's retries;
 * the operator's ceiling ends it.
 */
export interface EnlargeAction {
  readonly type: 'enlarge';
  readonly id: string;
  /** Of its sandboxes, MiB. */
  readonly memoryMib: number;
  /** What it takes of a worker's `limits.parallel` from now on. */
  readonly weight: number;
  /** For people. */
  readonly reason: string;
}

/** Begins anew, knowing what was wrong. Its earlier result no longer counts. */
export interface RerunAction {
  readonly type: 'rerun';
  readonly id: string;
  readonly cause: 'verification' | 'conflict';
  readonly feedback: string;
  /** The commit it begins with, before what it builds upon is added; null: the task's head. */
  readonly base: string | null;
  /** Rows it depends on from now on as well. */
  readonly after: readonly string[];
}

/** Smaller rows take its place: they depend on what it depended on, and what depended on it depends on all of them. */
export interface SplitAction {
  readonly type: 'split';
  readonly id: string;
  readonly children: readonly {
    readonly title: string;
    readonly matrix: MatrixRow;
    readonly complexity: number;
  }[];
  /** What they are told of its run. */
  readonly feedback: string;
}

/** Rows that its agent asked for join the graph, with its agent and limits. */
export interface ForkAction {
  readonly type: 'fork';
  readonly id: string;
  readonly rows: readonly {
    readonly title: string;
    readonly matrix: MatrixRow;
    readonly dependsOn: readonly string[];
  }[];
  readonly refused: readonly { readonly title: string; readonly reason: string }[];
}
