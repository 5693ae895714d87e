import type { FileChange } from '../domain/change.ts';
import type { Finding } from '../domain/finding.ts';
import type { MatrixRow } from '../domain/matrix.ts';
import type { Sandbox } from '../sandbox/port.ts';

/** One interface for every reviewer: a linter and a model look the same to the worker. */
export interface Agent {
  readonly name: string;
  /** Does the row's work. Throws a PatchfleetError for every failure; never returns a half result as whole. */
  review(assignment: Assignment): Promise<AgentReport>;
}

export interface Assignment {
  readonly taskId: string;
  readonly subtaskId: string;
  readonly attemptId: string;
  readonly row: MatrixRow;
  readonly contract: string;
  /** The changes of the row's inputs, in order. */
  readonly changes: readonly FileChange[];
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  /** Called on every sign of life; feeds the idle limit. */
  readonly onProgress: () => void;
  /**
   * Called with each line of the transcript or output, in order, as it comes to be: whoever runs the agent keeps
   * it as an artifact, of a failed attempt too. Without a final newline.
   */
  readonly onLog: (line: string) => void;
}

export interface AgentReport {
  /** Findings whose quoted lines exist; see {@link AgentReport.refused} for the others. */
  readonly findings: readonly Finding[];
  /** Findings that were refused because their anchor or quote does not exist. */
  readonly refused: number;
  /** A sentence or two for the summary; may be empty. */
  readonly summary: string;
  readonly turns: number;
}
