import type { BudgetLedger } from '../inference/port.ts';
import type { Attempts } from './port/attempts.ts';
import type { Audit } from './port/audit.ts';
import type { Checkpoints } from './port/checkpoints.ts';
import type { DeadLetters } from './port/dead-letters.ts';
import type { Deliveries } from './port/deliveries.ts';
import type { DueWork } from './port/due.ts';
import type { SetupFailures } from './port/failed-setups.ts';
import type { Figures } from './port/figures.ts';
import type { Graphs } from './port/graphs.ts';
import type { Publications } from './port/publications.ts';
import type { ResultIndex } from './port/result-index.ts';
import type { Tasks } from './port/tasks.ts';
import type { Verifications } from './port/verifications.ts';
import type { Views } from './port/views.ts';
import type { Workers } from './port/workers.ts';
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

/** What the stages know of the store: its rows, and the whole. The parts of it are in port/, one a file. */

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
export type DeadLetter = typeof deadLetters.$inferSelect;

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
