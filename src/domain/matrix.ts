import { z } from 'zod';
import type { SubtaskKind } from './task.ts';

/** The task matrix: one row is one subtask. What an agent gets is one row and the shared contract. */

export const rowLimitsSchema = z.object({
  /** Wall-clock limit of one attempt, milliseconds. */
  wallMs: z.int().positive(),
  /** No stream byte, output or CPU for this long ends the attempt, milliseconds. */
  idleMs: z.int().positive(),
  /** Model turns; ignored by command agents. */
  turns: z.int().positive(),
  /** Prompt and completion tokens of one attempt together; ignored by command agents. */
  tokens: z.int().positive(),
});
export type RowLimits = z.infer<typeof rowLimitsSchema>;

export const matrixRowSchema = z.object({
  goal: z.string(),
  background: z.string(),
  /** Paths of the changed files the row works on, in order. */
  inputs: z.array(z.string()),
  /** Literal paths the row alone may write; disjoint between rows that may run together. */
  writes: z.array(z.string()),
  output: z.string(),
  constraints: z.array(z.string()),
  verification: z.string(),
  limits: rowLimitsSchema,
});
export type MatrixRow = z.infer<typeof matrixRowSchema>;

/** A row of a plan before it is stored. `dependsOn` holds row numbers (0-based positions in the plan). */
export interface PlannedRow {
  /** Short, for tables: e.g. `packages/api (7 files)`. */
  readonly title: string;
  /** Name of the agent in the configuration. */
  readonly agent: string;
  /** Agents that are tried where it fails for good, in order. Default none. */
  readonly fallbacks?: readonly string[];
  /** What it takes of a worker's `limits.parallel`. Default 1. */
  readonly weight?: number;
  /** Of the lines it is about, where planning reads them: how many, their deepest nesting, and imports among them. */
  readonly shape?: { readonly lines: number; readonly nesting: number; readonly imports: number };
  /** Memory of its sandboxes, MiB; see sandbox-estimate.ts. Default: the operator's. */
  readonly memoryMib?: number;
  /** Default `agent`. */
  readonly kind?: SubtaskKind;
  /** Starts once what it depends on succeeded (the default), or once that has ended, however. */
  readonly waitsFor?: 'success' | 'end';
  /** The issue of a batch it works for; null or left out: the whole task. */
  readonly issue?: number | null;
  readonly matrix: MatrixRow;
  readonly dependsOn: readonly number[];
  /** Complexity score of the shard; see planning/complexity.ts. */
  readonly complexity: number;
}

export interface Plan {
  /** Read-only context given to every row: names, interfaces, conventions. Markdown. */
  readonly contract: string;
  readonly rows: readonly PlannedRow[];
  /** Why it is one subtask where it might have been several, in plain words; left out: it runs in parallel. */
  readonly serialReason?: string;
}
