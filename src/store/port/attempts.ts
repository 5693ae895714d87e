import type { Candidate } from '../../domain/candidate.ts';
import type { Failure } from '../../domain/failure.ts';
import type { Finding } from '../../domain/finding.ts';
import type { RequestedRow } from '../../domain/fork.ts';
import type { Triage } from '../../domain/triage.ts';
import type { Room } from '../claim-next.ts';
import type { Attempt, PatchRow, Subtask, Task } from '../port.ts';
import type { NewArtifact } from './artifacts.ts';

/** A claim on an attempt; every later write carries it and is refused when the epoch moved on. */
export interface Claim {
  readonly attemptId: string;
  readonly epoch: number;
}

export interface Attempts {
  /** Null unless the attempt is queued: it is over, or another worker has it. */
  claim(
    attemptId: string,
    worker: string,
  ): Promise<{ claim: Claim; attempt: Attempt; subtask: Subtask; task: Task } | null>;
  /**
   * Takes up to `most` of the queued attempts that come next for that worker, in that order; see `store/claim-next.ts`.
   * Empty: there is none for it now, since nothing is queued, or limits or its room do not let it.
   */
  claimNext(
    worker: string,
    room: Room & { readonly most: number },
  ): Promise<NonNullable<Awaited<ReturnType<Attempts['claim']>>>[]>;
  /**
   * Sandboxes that agents of those tasks will want next of this worker, over the heads of the tasks: for what it has
   * claimed and not yet begun, and for its share, among the workers that live, of what starts next. By task and memory
   * (MiB; null: the default), zeros left out. Rows that build on others do not count. Of what waits so much is looked at
   * as workers that take `most` at once could take.
   */
  comingUp(
    taskIds: readonly string[],
    who: { readonly worker: string; readonly most: number },
  ): Promise<{ taskId: string; memoryMib: number | null; count: number }[]>;
  /** A sign of life. False: the claim is lost or the attempt was cancelled, stop at once. */
  heartbeat(claim: Claim): Promise<boolean>;
  /** The agent starts in this container. False as with {@link heartbeat}. */
  started(claim: Claim, containerId: string): Promise<boolean>;
  /**
   * Stores the result in one transaction, in place of what an earlier run of the subtask gave. The subtask stays
   * `running`: what it means for the graph is decided by `advance` of graphs.ts. False: refused by epoch, nothing was
   * stored.
   */
  succeed(claim: Claim, result: AttemptResult): Promise<boolean>;
  fail(claim: Claim, failure: Failure, artifacts: readonly NewArtifact[]): Promise<boolean>;
  /** The worker gives the attempt back unharmed (it is shutting down). */
  release(claim: Claim): Promise<void>;
}

/** What an attempt gave: the parts its kind of work has. */
export interface AttemptResult {
  readonly summary: string;
  readonly turns: number;
  readonly artifacts: readonly NewArtifact[];
  readonly findings?: readonly Finding[];
  readonly refused?: number;
  /** Left out where nothing was changed. */
  readonly patch?: Omit<PatchRow, 'subtaskId' | 'taskId'>;
  readonly candidate?: Candidate;
  readonly triage?: Triage;
  /** Rows its agent asks for. */
  readonly requested?: readonly RequestedRow[];
}
