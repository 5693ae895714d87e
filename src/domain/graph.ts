import type { Failure } from './failure.ts';
import type { AttemptStatus, SubtaskKind, SubtaskStatus, TaskOutcome } from './task.ts';

/** The graph of a task as the scheduler sees it, and what it may decide about it. */

export interface GraphRow {
  readonly id: string;
  readonly row: number;
  readonly status: SubtaskStatus;
  /** Ids of the rows this one waits for. */
  readonly dependsOn: readonly string[];
  /** Whether it needs what it depends on to have succeeded, or only to be over. */
  readonly waitsFor: 'success' | 'end';
  readonly kind: SubtaskKind;
  readonly complexity: number;
  /** Attempts that failed by themselves. */
  readonly failures: number;
  /** Workers that died over it. */
  readonly deaths: number;
  readonly failure: Failure | null;
  /** Milliseconds since the epoch; null: at any time. */
  readonly notBefore: number | null;
  /** Its newest attempt; null when there was none. */
  readonly lastAttempt: AttemptStatus | null;
}

export type Action =
  | { readonly type: 'start'; readonly id: string }
  /** Back to waiting, not to be started before `notBefore`. */
  | { readonly type: 'retry'; readonly id: string; readonly notBefore: number }
  | { readonly type: 'fail'; readonly id: string; readonly failure: Failure }
  | { readonly type: 'skip'; readonly id: string; readonly failure: Failure }
  | { readonly type: 'settle'; readonly outcome: TaskOutcome }
  /** Nothing to do before then. */
  | { readonly type: 'wake'; readonly at: number };
