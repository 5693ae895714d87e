import type { RepositoryConfig } from '../config/repository-config.ts';
import type { Candidate } from '../domain/candidate.ts';
import type { Patch, PatchEntry } from '../domain/patch.ts';
import type { Verdict, VerificationCommand, VerificationReport } from '../domain/verification.ts';
import type { Mirror } from '../github/port.ts';
import type { HarvestEntry, KindRequest } from '../sandbox/port.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Subtask } from '../store/port.ts';

/** What the rest of the product knows of verifying and merging. */

/** Who pays for a verification: its sandboxes carry this attempt's label. */
export interface VerificationContext {
  readonly taskId: string;
  readonly attemptId: string;
  readonly repository: { readonly id: number; readonly mirrorDir: string };
  /** What its sandboxes are made of, beside the commit. */
  readonly kind: Pick<KindRequest, 'config' | 'trusted' | 'memoryMib'>;
  readonly commands: readonly VerificationCommand[];
  /** Wall-clock limit of each command, milliseconds. */
  readonly commandMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
  /** Called for each verification that is run, not for what is found kept. */
  readonly onRun?: () => void;
}

export interface Verifier {
  /** The report of that commit's tree: made once per tree, commands, image and prepared dependencies, then kept. */
  report(commit: string, context: VerificationContext): Promise<VerificationReport>;
  /**
   * Judges `commit` against `base`: new failures alone count, and what fails is run once more before it is
   * believed. Where there are no commands everything passes, and the verdict says so by its empty lists.
   */
  judge(base: string, commit: string, context: VerificationContext): Promise<Verdict>;
}

/** One finished patch that asks to be merged, in the order of its row. */
export interface MergePatch {
  readonly subtaskId: string;
  readonly row: number;
  readonly title: string;
  /** The commit it was made on, or a tree that stands for it. */
  readonly baseCommit: string;
  /** Tree of the base with the patch. The mirror may lack it, but none of the entries' blobs. */
  readonly tree: string;
  /** What differs between the two. */
  readonly entries: readonly PatchEntry[];
}

/** What an agent left in its workspace, to be made a patch. */
export interface CheckPatchRequest {
  readonly mirror: Mirror;
  /** The commit the workspace was made of. */
  readonly base: string;
  readonly harvest: readonly HarvestEntry[];
  /** The row's scope. */
  readonly writes: readonly string[];
  readonly config: RepositoryConfig;
  /** Message of the patch's local commit. */
  readonly message: string;
  readonly context: VerificationContext;
}

export interface CheckedPatch {
  readonly patch: Patch;
  readonly verdict: Verdict;
  /** `git diff --binary` against the base. */
  readonly text: Uint8Array;
}

/** What execution asks of merging; see check-patch.ts and integrate-rows.ts. */
export interface Merging {
  checksOf(mirror: Mirror, commit: string, config: RepositoryConfig): Promise<VerificationCommand[]>;
  /** The commit a row works on: the task's head with the patches of the rows it depends on. */
  baseOf(request: BaseRequest): Promise<string>;
  /** Null: nothing was changed. Fails with `patch_refused`, `verification_failed`, or as verifying does. */
  checkPatch(request: CheckPatchRequest): Promise<CheckedPatch | null>;
  /** The candidate of an integrating row from what the rows before it made. */
  integrateRows(request: IntegrateRowsRequest): Promise<Candidate>;
}

export interface BaseRequest {
  readonly mirror: Mirror;
  readonly view: TaskView;
  readonly row: Subtask;
  /** What it begins with in place of the task's head, e.g. the candidate that its re-run stands on. */
  readonly start?: string;
  /** Ids of the rows it depends on, directly or through others. */
  readonly ancestors: readonly string[];
  readonly signal: AbortSignal;
}

export interface IntegrateRowsRequest {
  readonly mirror: Mirror;
  readonly view: TaskView;
  readonly row: Subtask;
  readonly config: RepositoryConfig;
  readonly context: VerificationContext;
}
