import type { Candidate } from '../domain/candidate.ts';
import type { SkippedFile } from '../domain/change.ts';
import type { RowUse } from '../domain/estimate.ts';
import type { Failure } from '../domain/failure.ts';
import type { Finding } from '../domain/finding.ts';
import type { RequestedRow } from '../domain/fork.ts';
import type { Action, GraphState } from '../domain/graph.ts';
import type { Plan } from '../domain/matrix.ts';
import type { EarlierAttempt, KeptRun } from '../domain/resume.ts';
import type { SubjectIssue, TaskOutcome } from '../domain/task.ts';
import type { Triage } from '../domain/triage.ts';
import type { VerificationReport } from '../domain/verification.ts';
import type { BudgetLedger, ModelMessage } from '../inference/port.ts';
import type { Room } from './claim-next.ts';
import type {
  artifacts,
  attempts,
  candidates,
  deadLetters,
  deliveries,
  findings,
  patches,
  publications,
  resultIndex,
  subtasks,
  tasks,
  triages,
} from './schema.ts';

/** What the stages know of the store. Each interface is one file of this folder. */

export type Delivery = typeof deliveries.$inferSelect;
export type Task = typeof tasks.$inferSelect;
export type Subtask = typeof subtasks.$inferSelect;
export type Attempt = typeof attempts.$inferSelect;
export type FindingRow = typeof findings.$inferSelect;
export type Publication = typeof publications.$inferSelect;
export type Artifact = typeof artifacts.$inferSelect;
export type PatchRow = typeof patches.$inferSelect;
export type CandidateRow = typeof candidates.$inferSelect;
export type TriageRow = typeof triages.$inferSelect;
export type IndexedResult = typeof resultIndex.$inferSelect;

export interface Store {
  readonly deliveries: Deliveries;
  readonly tasks: Tasks;
  readonly attempts: Attempts;
  readonly workers: Workers;
  readonly checkpoints: Checkpoints;
  readonly graphs: Graphs;
  readonly views: Views;
  readonly figures: Figures;
  readonly publications: Publications;
  readonly ledger: BudgetLedger;
  readonly verifications: Verifications;
  readonly failedSetups: SetupFailures;
  readonly resultIndex: ResultIndex;
  readonly audit: Audit;
  readonly deadLetters: DeadLetters;
  readonly due: DueWork;
  /**
   * Runs `work` while holding a lock of that name over all replicas; waits for it. The lock is a session
   * lock of Postgres: it is freed when this process dies.
   */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** As {@link withLock}, but returns null at once when somebody else holds it. */
  tryLock<T>(name: string, work: () => Promise<T>): Promise<T | null>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Deliveries {
  /** One transaction; `duplicate` when the id is known. Rejects when it cannot be stored. */
  store(delivery: Pick<Delivery, 'id' | 'event' | 'action' | 'body'>): Promise<'stored' | 'duplicate'>;
  get(id: string): Promise<Delivery | null>;
  /** Counts a try of admission and returns how many there were, this one included. */
  begin(id: string): Promise<number>;
  settle(id: string, status: 'admitted' | 'ignored', reason: string | null): Promise<void>;
  /** Settles it as `failed`, and keeps it as a dead letter. */
  giveUp(id: string, failure: Failure): Promise<void>;
}

export type NewTask = Pick<
  Task,
  | 'kind'
  | 'key'
  | 'installationId'
  | 'repositoryId'
  | 'owner'
  | 'repo'
  | 'number'
  | 'headSha'
  | 'baseSha'
  | 'baseRef'
  | 'title'
  | 'body'
  | 'trigger'
  | 'config'
  | 'priority'
> &
  Partial<
    Pick<Task, 'subject' | 'instruction' | 'issues' | 'targetRef' | 'fork' | 'startAfter' | 'planOnly'>
  > & {
    /** Begins in `held`: it waits for {@link Tasks.release}, or for its `startAfter`. */
    readonly held?: boolean;
    /** Nothing is to be run for it: it goes straight to publishing, succeeded. */
    readonly done?: boolean;
    /** Set when the task is over before it began (a broken repository file): it goes straight to publishing. */
    readonly failure: Failure | null;
  };

export interface Tasks {
  /**
   * Inserts the task unless its key is known. A review settles, in the same transaction, the open reviews of
   * the same pull request as `superseded`; `superseded` holds the ids of those.
   */
  create(task: NewTask): Promise<{ task: Task; created: boolean; superseded: string[] }>;
  get(id: string): Promise<Task | null>;
  /** Of that issue or pull request, and the batches that have the issue. Newest first. */
  ofPull(repositoryId: number, number: number): Promise<Task[]>;
  /** Those that wait for an approval, oldest first. */
  heldIn(repositoryId: number): Promise<Task[]>;
  /**
   * Settles an open task: outcome set, phase `publishing`, open subtasks and live attempts cancelled, all
   * in one transaction. False when it was settled already. Failed as a whole, it is kept as a dead letter.
   */
  settle(id: string, outcome: TaskOutcome, failure: Failure | null): Promise<boolean>;
  /** Counts a try of planning and returns how many there were; null when the task is not in `planning`. */
  beginPlanning(id: string): Promise<number | null>;
  /**
   * Stores the plan's rows and moves the task to `running`, or, where it is planned only, to `publishing` with rows
   * that are skipped. False when it left `planning` meanwhile.
   */
  storePlan(
    id: string,
    plan: Plan,
    facts: { mergeBase: string; skipped: readonly SkippedFile[]; filesChanged: number },
  ): Promise<boolean>;
  /**
   * Adds an issue to the repository's gathering batch and moves its start to `task.startAfter`, or begins a
   * batch with it. An issue that an open batch already has changes nothing. Where the batch that gathers has
   * `maxIssues` already, it starts at once and the issue begins the next.
   */
  gather(task: NewTask, issue: SubjectIssue, maxIssues: number): Promise<{ task: Task; created: boolean }>;
  /** `held -> planning`. False when it is not held. */
  release(id: string): Promise<boolean>;
  /** Held tasks whose time has come go to `planning`; returns them. */
  releaseDue(): Promise<{ id: string; priority: number }[]>;
  /**
   * The target moved: an integrating subtask of a task in `publishing` runs again. False when the task is not
   * in `publishing`.
   */
  reopenIntegration(id: string, subtaskId: string): Promise<boolean>;
  /**
   * Counts a failed publish of the task as it was read before, and lets none begin before `after`. False when the
   * row has moved on meanwhile (another replica counted, or the phase changed): then nothing is written.
   */
  pausePublishing(seen: Pick<Task, 'id' | 'phase' | 'publishTries'>, after: Date): Promise<boolean>;
  /** A publish succeeded: the next failure is the first again. */
  resumePublishing(id: string): Promise<void>;
  /** `publishing -> finished`, once everything was published. */
  finish(id: string): Promise<void>;
  /** The same where publishing as a whole was given up, which is kept as a dead letter. */
  giveUpPublishing(id: string, failure: Failure, detail: Record<string, unknown>): Promise<void>;
}

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
   * claimed and not yet begun, and for its share, among the workers that live, of what may start. By task and memory
   * (MiB; null: the default), zeros left out. Rows that build on others do not count.
   */
  comingUp(
    taskIds: readonly string[],
    worker: string,
  ): Promise<{ taskId: string; memoryMib: number | null; count: number }[]>;
  /** A sign of life. False: the claim is lost or the attempt was cancelled, stop at once. */
  heartbeat(claim: Claim): Promise<boolean>;
  /** The agent starts in this container. False as with {@link heartbeat}. */
  started(claim: Claim, containerId: string): Promise<boolean>;
  /**
   * Stores the result in one transaction, in place of what an earlier run of the subtask gave. The subtask stays
   * `running`: what it means for the graph is decided by {@link Graphs.advance}. False: refused by epoch, nothing was
   * stored.
   */
  succeed(claim: Claim, result: AttemptResult): Promise<boolean>;
  fail(claim: Claim, failure: Failure, artifacts: readonly NewArtifact[]): Promise<boolean>;
  /** The worker gives the attempt back unharmed (it is shutting down). */
  release(claim: Claim): Promise<void>;
}

export interface Workers {
  /**
   * A worker's sign of life. Answers which of its claims are gone (cancelled, lost, taken), and whether an attempt has
   * been queued for `waitingMs` and longer.
   */
  look(
    worker: string,
    at: { readonly capacity: number; readonly claims: readonly Claim[]; readonly waitingMs: number },
  ): Promise<{ gone: string[]; waiting: boolean }>;
  /** Whether that worker gave a sign of life within the lease, milliseconds. */
  isAlive(worker: string, leaseMs: number): Promise<boolean>;
  /** The worker stops as told. */
  leave(worker: string): Promise<void>;
  /** Drops the workers without a sign of life for that long. */
  forget(silentMs: number): Promise<void>;
}

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

export interface Graphs {
  /**
   * Locks the task, reads its open ends, asks `decide`, and applies the answer, again until nothing is left to
   * decide, all in one transaction. Null when the task is not running. The caller enqueues what `started` names; a
   * crash in between is the reconciler's.
   */
  advance(taskId: string, scheduler: Scheduler): Promise<Advanced | null>;
  /** Subtasks that one depends on, directly or through others. */
  ancestors(subtaskId: string): Promise<string[]>;
}

export interface Scheduler {
  /** Attempts of the task that may be live at once. */
  parallel(task: Task): number;
  decide(state: GraphState, now: number): readonly Action[];
}

export interface Advanced {
  readonly task: Task;
  readonly started: readonly { attemptId: string }[];
  readonly settled: boolean;
  /** Milliseconds since the epoch of the next time to look; null: when something ends. */
  readonly wakeAt: number | null;
}

export type NewArtifact = Pick<Artifact, 'name' | 'digest' | 'bytes' | 'mediaType'>;

/** Everything a page, a comment or a check run shows of one task. Subtasks by row, findings by row and position. */
export interface TaskView {
  readonly task: Task;
  readonly subtasks: readonly Subtask[];
  readonly attempts: readonly Attempt[];
  readonly findings: readonly FindingRow[];
  /** By row. */
  readonly patches: readonly PatchRow[];
  readonly candidates: readonly CandidateRow[];
  readonly triages: readonly TriageRow[];
  readonly spend: { readonly calls: number; readonly tokens: number; readonly costMicros: number };
}

export interface Views {
  task(id: string): Promise<TaskView | null>;
  /** The newest review of each pull request for that head, ordered by pull request. */
  head(repositoryId: number, headSha: string): Promise<TaskView[]>;
  /**
   * Fingerprints of findings that earlier tasks of this pull request already published in a review.
   */
  published(repositoryId: number, number: number, exceptTask: string): Promise<Set<string>>;
  /** What waits for what in a task, by ids of subtasks. */
  dependencies(taskId: string): Promise<{ subtaskId: string; dependsOn: string }[]>;
}

/** What work used so far. */
export interface Figures {
  /** Tokens and cost of rows that changed files in that repository lately, by agent. */
  changeUse(repositoryId: number): Promise<RowUse[]>;
  /** Tokens that the latest attempts on a channel used on the mean; null: there was none. */
  meanTokens(channel: string): Promise<number | null>;
}

export interface Publications {
  get(key: string): Promise<Publication | null>;
  ofTask(taskId: string): Promise<Publication[]>;
  /** Creates the row when missing and marks it `sending`: a write is about to happen. Returns it as it was before. */
  begin(key: string, kind: Publication['kind'], taskId: string | null): Promise<Publication>;
  done(
    key: string,
    result: Partial<Pick<Publication, 'githubId' | 'url' | 'fingerprint' | 'detail'>>,
  ): Promise<void>;
  /** Given up for good, and kept as a dead letter. */
  fail(key: string, failure: Failure): Promise<void>;
}

/** Reports of verified trees, by a key of tree, commands and image. */
export interface Verifications {
  get(key: string): Promise<VerificationReport | null>;
  /** Keeps the first report of a key. */
  put(key: string, report: VerificationReport, repositoryId: number): Promise<void>;
  /** Most memory that the newest verifications of that repository needed, MiB each; those of whom it is not known apart. */
  peaks(repositoryId: number): Promise<number[]>;
}

/** Setups that failed, by the key of what they would have prepared. */
export interface SetupFailures {
  /** How it failed within the last minutes; null: it did not. */
  fresh(key: string): Promise<Failure | null>;
  put(key: string, repositoryId: number, failure: Failure): Promise<void>;
}

/** Verified patches by what they were made from; see domain/result-key.ts. */
export interface ResultIndex {
  get(key: string): Promise<IndexedResult | null>;
  /** Those of a family that were there before, newest first; at most 50. */
  family(family: string, before: Date): Promise<IndexedResult[]>;
  /** Takes the place of what the key had. */
  put(result: Omit<IndexedResult, 'createdAt'>): Promise<void>;
}

export type DeadLetter = typeof deadLetters.$inferSelect;
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

export interface Audit {
  record(entry: {
    actor: string;
    action: string;
    subject: string;
    detail?: Record<string, unknown>;
  }): Promise<void>;
}

/** What the rows say is due: the reconciler's questions. */
export interface DueWork {
  deliveries(olderThanMs: number): Promise<string[]>;
  /** Ids of tasks in that phase, with their priority. Those in `publishing` only once their pause is over. */
  tasks(phase: 'planning' | 'running' | 'publishing'): Promise<{ id: string; priority: number }[]>;
  /**
   * Tasks over their time limit end with what they have: what is open in them fails as `task_limit`. Returns those
   * that changed.
   */
  endOverdue(limitMs: number): Promise<string[]>;
  /** Finished tasks whose check run was never concluded, and not tried again for that long. */
  checkRuns(olderThanMs: number): Promise<{ id: string; priority: number }[]>;
  /** Attempts that wait, as many as it makes sense to wake workers for. */
  attempts(olderThanMs: number): Promise<{ id: string; repositoryId: number; priority: number }[]>;
  /**
   * Marks running attempts without a sign of life for `leaseMs` as lost, and settles what they had reserved as spent;
   * returns their task ids.
   */
  loseAttempts(leaseMs: number): Promise<string[]>;
}

/** Content-addressed storage of logs, transcripts and patches. */
export interface ArtifactStore {
  put(name: string, content: string | Uint8Array, mediaType: string): Promise<NewArtifact>;
  /** Null when it is not there; rejects when it is corrupt. */
  get(digest: string): Promise<Uint8Array | null>;
}
