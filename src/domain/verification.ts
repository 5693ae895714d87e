import { z } from 'zod';

/** What checking a tree says: one report per tree, commands and image; it is made once and kept. */

export const verificationCommandSchema = z.object({
  /** For people, e.g. `npm test`. */
  name: z.string(),
  argv: z.array(z.string()).min(1),
  /** Relative to the root of the repository. */
  cwd: z.string(),
});
export type VerificationCommand = z.infer<typeof verificationCommandSchema>;

export const commandReportSchema = z.object({
  name: z.string(),
  exitCode: z.number().nullable(),
  timedOut: z.boolean(),
  durationMs: z.number(),
  /**
   * What failed, by names that stay the same from run to run: test names where the output is of a known kind
   * (`test:<file>:<name>`), else the command itself (`command:<name>`, with how it ended where that may have hidden
   * tests: `command:<name> timed out`). Empty: the command passed. Made by failing-tests.ts.
   */
  failures: z.array(z.string()),
  /** Tests that ran, as the runner sums them up; null: it does not say. */
  tests: z.number().nullable(),
  /** The end of its output, for people. */
  tail: z.string(),
});
export type CommandReport = z.infer<typeof commandReportSchema>;

export const verificationReportSchema = z.object({
  tree: z.string(),
  commands: z.array(commandReportSchema),
  /** Most memory that its sandbox needed, MiB; null or left out: not known. See `peakMemoryBytes` of a run's result. */
  peakMib: z.int().nullish(),
});
export type VerificationReport = z.infer<typeof verificationReportSchema>;

/** What a report means next to the report of the base. */
export interface Verdict {
  /** Passed: nothing fails that did not fail before. */
  readonly passed: boolean;
  readonly newFailures: readonly string[];
  /**
   * Failed in the base as well: not counted, but said. One that begins with `command:` means that the command could
   * not judge at all, since it names no test before or after.
   */
  readonly knownFailures: readonly string[];
  /** Failed once and passed when it was run again. */
  readonly flaky: readonly string[];
}
