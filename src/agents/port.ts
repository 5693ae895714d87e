import type { FileChange } from '../domain/change.ts';
import type { Finding } from '../domain/finding.ts';
import type { RequestedRow } from '../domain/fork.ts';
import type { MatrixRow } from '../domain/matrix.ts';
import type { Triage } from '../domain/triage.ts';
import type { VerificationCommand } from '../domain/verification.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { KeptTurn } from '../store/port/checkpoints.ts';

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
  readonly keeper: TurnKeeper;
  readonly signal: AbortSignal;
  /** Called on every sign of life; feeds the idle limit. */
  readonly onProgress: () => void;
  /**
   * Called with each line of the transcript or output, in order, as it comes to be: whoever runs the agent keeps
   * it as an artifact, of a failed attempt too. Without a final newline.
   */
  readonly onLog: (line: string) => void;
}

/** Keeps the turns of a row outside of its worker, so that another attempt goes on from them. */
export interface TurnKeeper {
  /**
   * The turns that were finished before, with the workspace as they left it; empty: the row begins anew, on an
   * untouched workspace. `beginning`: digest of agent, tools and first messages; turns of another are of no use.
   */
  resume(beginning: string): Promise<readonly KeptTurn[]>;
  /** Throws when the claim is gone. `touched`: the workspace may not be as it was after the turn before. */
  keep(turn: KeptTurn, touched: boolean): Promise<void>;
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

/** An agent that changes files. What it wrote is read from the workspace afterwards, never from its words. */
export interface Fixer {
  readonly name: string;
  /** Works until it says it is done. Throws a PatchfleetError for every failure. */
  fix(assignment: FixAssignment): Promise<FixReport>;
}

export interface FixAssignment extends Omit<Assignment, 'changes'> {
  /** What will be run to check the patch; the agent may run them too. */
  readonly checks: readonly VerificationCommand[];
  /** Why the run before did not count: failing checks, a conflict. Empty at first. Others' text. */
  readonly feedback: string;
  /** A patch that an earlier task made for a similar goal; empty: there is none. Others' text. */
  readonly startingPoint: string;
}

export interface FixReport {
  /** What was done and why, in a few sentences; or why nothing was to be done. */
  readonly summary: string;
  readonly turns: number;
  /** Rows it asks for: work that it found to be needed outside of its scope. */
  readonly requested: readonly RequestedRow[];
}

/** An agent that sorts an issue. It reads; it writes nothing. */
export interface Triager {
  readonly name: string;
  triage(assignment: TriageAssignment): Promise<{ triage: Triage; turns: number }>;
}

export interface TriageAssignment extends Omit<Assignment, 'changes'> {
  /** Labels it may choose from. */
  readonly labels: readonly { readonly name: string; readonly description: string }[];
  /** Other open issues, newest first. */
  readonly others: readonly { readonly number: number; readonly title: string; readonly excerpt: string }[];
}

/** Asks a model for a task matrix. No sandbox: what it needs to know is in the request. */
export interface PlannerAgent {
  /**
   * The plan as the model gave it, by its schema but not yet validated against the repository. `faults`: what was
   * wrong with `previous`. Throws as the gateway does, and `model_nonsense` when no plan comes back.
   */
  propose(
    request: PlanRequestText,
    previous: PlanProposal | null,
    faults: readonly string[],
  ): Promise<PlanProposal>;
}

export interface PlanRequestText {
  readonly taskId: string;
  /** What is asked for: data from outside. */
  readonly instruction: string;
  /** Title and body of the issue or pull request; empty for a campaign. */
  readonly subject: string;
  /** Paths of the repository's files, shortened where there are many (said in the text). */
  readonly files: string;
  /** Conventions of the repository, from its own file. */
  readonly conventions: string;
  readonly maxRows: number;
  readonly signal: AbortSignal;
}

/** The task matrix as a model proposes it. */
export interface PlanProposal {
  /** Names, interfaces and conventions that every row keeps to. */
  readonly contract: string;
  readonly rows: readonly {
    readonly title: string;
    readonly goal: string;
    /** Literal paths or globs it alone may write. */
    readonly writes: readonly string[];
    /** Paths it should read. */
    readonly inputs: readonly string[];
    /** Positions of rows, 0-based. */
    readonly depends_on: readonly number[];
    /** How one sees that it is done. */
    readonly verification: string;
  }[];
  /** Why the rows should not be worked on at the same time. */
  readonly serial_reason?: string | undefined;
}
