import type { Verdict } from './verification.ts';

/** A subtask whose work is not in the candidate. */
export interface LeftOut {
  readonly subtaskId: string;
  readonly row: number;
  /**
   * `conflict`: with the target or an earlier patch; `verification`: the checks fail with it; `undecided`: they fail
   * with some of several, and it was not found in time with which; else its failure's code.
   */
  readonly code: string;
  readonly reason: string;
  /** Subtask of the patch it collides with; null: the target, or several together, or no conflict. */
  readonly against: string | null;
}

/** What merging gives. `commit` null: nothing is left to publish, and `leftOut` says why. */
export interface Candidate {
  /** The target's head the candidate stands on. */
  readonly targetSha: string;
  readonly commit: string | null;
  readonly tree: string | null;
  /** Rows that are in it, ascending. A row neither here nor left out had nothing to add to the target. */
  readonly merged: readonly number[];
  readonly leftOut: readonly LeftOut[];
  readonly verdict: Verdict | null;
  /** Names of the commands it was verified with; empty: there are none, and nothing was run. */
  readonly checks: readonly string[];
  /** Verifications that were run, kept ones not counted. */
  readonly verifications: number;
}

const words: Readonly<Record<string, string>> = {
  verification_failed: 'verification',
  merge_conflict: 'conflict',
};

/** The word a report uses for the failure of a row: what failed in its own checks and what failed in the whole is one. */
export function reportCode(code: string): string {
  return words[code] ?? code;
}

/** The code of a failure that a report calls so: the other way round. */
export function codeOfReport(word: string): string {
  return Object.keys(words).find((code) => words[code] === word) ?? word;
}
