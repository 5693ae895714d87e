import type { Candidate } from '../../../src/domain/candidate.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import type { RequestedRow } from '../../../src/domain/fork.ts';
import type { Plan } from '../../../src/domain/matrix.ts';
import type { AttemptStatus, SubtaskKind, SubtaskStatus, TaskOutcome } from '../../../src/domain/task.ts';
import type { DecideLimits } from '../../../src/scheduling/limits.ts';

/** A graph with its scheduler, on whatever store: what {@link play} needs of it. */
export interface GraphWorld {
  snapshot(): Promise<Snapshot>;
  /** Ids of the attempts that were started; null: the task is not running. */
  advance(): Promise<readonly string[] | null>;
  claim(attemptId: string): Promise<TestClaim | null>;
  succeed(claim: TestClaim, result: TestResult): Promise<boolean>;
  /** `progressed`: its agent had finished a turn. */
  fail(claim: TestClaim, failure: Failure, progressed: boolean): Promise<boolean>;
  /** Its worker dies. */
  lose(attemptId: string): Promise<void>;
  /** Its worker gives it back. */
  release(claim: TestClaim): Promise<void>;
  /** Every pause is over. */
  elapse(): Promise<void>;
  cancel(): Promise<void>;
}

export type OpenWorld = (plan: Plan, limits: DecideLimits, parallel: number) => Promise<GraphWorld>;

export interface TestClaim {
  readonly attemptId: string;
  readonly epoch: number;
}

export interface TestResult {
  readonly requested: readonly RequestedRow[];
  readonly candidate: Candidate | null;
}

export interface Snapshot {
  readonly phase: string;
  readonly outcome: TaskOutcome | null;
  readonly retriesUsed: number;
  /** By row. */
  readonly rows: readonly SnapshotRow[];
  /** By row and number. */
  readonly attempts: readonly SnapshotAttempt[];
  /** What counts, as it is shown: the attempt that gave it and its row. */
  readonly results: readonly { readonly attemptId: string; readonly row: number }[];
}

export interface SnapshotRow {
  readonly id: string;
  readonly row: number;
  readonly kind: SubtaskKind;
  readonly issue: number | null;
  readonly waitsFor: 'success' | 'end';
  readonly status: SubtaskStatus;
  readonly title: string;
  readonly writes: readonly string[];
  readonly dependsOn: readonly string[];
  readonly unmet: number;
  readonly path: number;
  readonly pausing: boolean;
  readonly depth: number;
  readonly failures: number;
  readonly deaths: number;
  readonly memoryMib: number | null;
  readonly verificationReruns: number;
  readonly conflictReruns: number;
  readonly failure: Failure | null;
}

export interface SnapshotAttempt {
  readonly id: string;
  readonly subtaskId: string;
  readonly number: number;
  readonly status: AttemptStatus;
}
