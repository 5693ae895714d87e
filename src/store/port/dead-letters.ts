import type { Artifact, Attempt, DeadLetter, Task } from '../port.ts';

export type LetterAttempt = Attempt & { readonly artifacts: readonly Artifact[] };

/** What failed for good; see `dead_letters`. */
export interface DeadLetters {
  /** Those that nobody settled, newest first. */
  list(): Promise<(DeadLetter & { readonly task: Task | null })[]>;
  /** Those whose id begins so, settled ones too; two at most. */
  find(prefix: string): Promise<(DeadLetter & { readonly task: Task | null })[]>;
  /** Attempts of a subtask by number, with what they left. */
  attempts(subtaskId: string): Promise<LetterAttempt[]>;
  /** Puts it back to where it is due again, in one transaction. Null: done, else why it cannot be. */
  retry(id: string): Promise<string | null>;
  /** Nobody will look at it again. False: it was settled already. */
  drop(id: string): Promise<boolean>;
}
