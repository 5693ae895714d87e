/** What the model of a benchmark plans and how long it thinks. Goes over HTTP as JSON. */
export interface ModelScript {
  readonly rows: readonly ScriptedRow[];
  /** Milliseconds of each of the calls of a row, by the first path of its scope. */
  readonly callMs: Readonly<Record<string, number>>;
}

/** As planners hand rows in. */
export interface ScriptedRow {
  readonly title: string;
  readonly goal: string;
  readonly writes: readonly string[];
  readonly inputs: readonly string[];
  readonly depends_on: readonly number[];
  readonly verification: string;
}

/** Calls of a row: it looks, writes the first file of its scope, and finishes. */
export const callsOfRow = 3;

/** One call as the model saw it; milliseconds since the epoch. */
export interface ModelCall {
  readonly attempt: string;
  readonly startedAt: number;
  readonly endedAt: number;
}
