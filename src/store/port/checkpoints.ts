import type { EarlierAttempt, KeptRun } from '../../domain/resume.ts';
import type { ModelMessage } from '../../inference/port.ts';
import type { Claim } from './attempts.ts';

/** A turn of an agent that is over: every call of it is answered. */
export interface KeptTurn {
  /** 1-based. */
  readonly turn: number;
  /** What it added to the conversation, in order. */
  readonly messages: readonly ModelMessage[];
  /** Prompt and completion tokens it cost. */
  readonly tokens: number;
}

/** Where the agent of a subtask stands: all turns from the first on, in order. */
export interface Checkpoint extends KeptRun {
  readonly turns: readonly KeptTurn[];
  /** `git diff --binary` of the workspace after the last turn, against its snapshot; null: it was never changed. */
  readonly patch: Uint8Array | null;
  readonly earlier: EarlierAttempt | null;
}

export interface Checkpoints {
  /**
   * Keeps a turn, in one statement. `patch`: null where the workspace is as it was after the turn before. False:
   * the claim is gone, nothing was written, stop.
   */
  save(
    claim: Claim,
    turn: KeptTurn & { readonly beginning: string; readonly patch: Uint8Array | null },
  ): Promise<boolean>;
  /** Null: nothing was kept, or not all of one run. */
  load(subtaskId: string): Promise<Checkpoint | null>;
  /** The row begins anew. Does nothing where the claim is gone. */
  clear(claim: Claim): Promise<void>;
}
