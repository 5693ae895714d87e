import type { Action, GraphState } from '../../domain/graph.ts';
import type { Task } from '../port.ts';

export interface Graphs {
  /**
   * Locks the task, reads its open ends, asks `decide`, and applies the answer, again until nothing is left to
   * decide, all in one transaction. Null when the task is not running. The caller enqueues what `started` names; a
   * crash in between is the reconciler's.
   */
  advance(taskId: string, scheduler: Scheduler): Promise<Advanced | null>;
  /** Subtasks that one depends on, directly or through others. */
  ancestors(subtaskId: string): Promise<string[]>;
}

export interface Scheduler {
  /** Attempts of the task that may be live at once. */
  parallel(task: Task): number;
  /** `now`: milliseconds since the epoch, by the clock of the rows. */
  decide(state: GraphState, now: number): readonly Action[];
}

export interface Advanced {
  readonly task: Task;
  readonly started: readonly { attemptId: string }[];
  readonly settled: boolean;
  /** Milliseconds until the next time to look; null: when something ends. */
  readonly wakeInMs: number | null;
}
