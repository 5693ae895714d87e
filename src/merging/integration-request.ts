import type { LeftOut } from '../domain/candidate.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import type { Mirror } from '../github/port.ts';
import type { MergePatch, VerificationContext } from './port.ts';

export interface IntegrationRequest {
  readonly mirror: Mirror;
  /** Branch the result goes to, without `refs/heads/`. */
  readonly targetRef: string;
  /** The branch is in a fork: its head is that of this pull request. */
  readonly pull?: number;
  /** In any order; they are merged by row. */
  readonly patches: readonly MergePatch[];
  /** Rows without a patch to merge, which failed. */
  readonly failedRows: readonly LeftOut[];
  readonly onPartial: 'publish_rest' | 'all_or_nothing';
  /** See protection.ts. */
  readonly protection: ProtectionOf;
  /** Paths that a row's scope names literally. */
  readonly namedBy: (row: number) => readonly string[];
  /** Message of the candidate's commit, from the rows in it. */
  readonly message: (rows: readonly number[]) => string;
  readonly context: VerificationContext;
}
