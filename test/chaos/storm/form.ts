/** How much happens in a storm. */
export interface StormForm {
  /** Processes that are killed and started again. */
  readonly serve: number;
  readonly work: number;
  /** Tasks by kind, each of that many rows (a batch: issues of one row each). */
  readonly tasks: Readonly<Record<'fix' | 'review' | 'batch', number>>;
  readonly rows: number;
  /** SIGKILLs in all, and the pause before each, milliseconds. */
  readonly kills: number;
  readonly pauseMs: readonly [least: number, most: number];
  /** Servers that go away. A flush empties Redis without ending it. */
  readonly flushes: number;
  readonly redisRestarts: number;
  readonly postgresRestarts: number;
  readonly dockerRestarts: number;
  /** How long Docker is away beside its own stop and start: longer than a row's retries would last. */
  readonly dockerAwayMs: number;
  /** Time of one model answer, milliseconds. */
  readonly modelMs: number;
  /** For all of it to be over after the last kill, milliseconds. */
  readonly settleMs: number;
}

/** What `npm run chaos` does: acceptance of the engine. */
export const fullForm: StormForm = {
  serve: 2,
  work: 3,
  tasks: { fix: 6, review: 5, batch: 1 },
  rows: 20,
  kills: 100,
  pauseMs: [1000, 6000],
  flushes: 2,
  redisRestarts: 2,
  postgresRestarts: 2,
  dockerRestarts: 1,
  dockerAwayMs: 15_000,
  modelMs: 250,
  settleMs: 900_000,
};

/** What `npm test` does. */
export const shortForm: StormForm = {
  ...fullForm,
  tasks: { fix: 1, review: 1, batch: 1 },
  rows: 5,
  kills: 10,
  pauseMs: [500, 3000],
  flushes: 1,
  redisRestarts: 0,
  postgresRestarts: 1,
  dockerRestarts: 1,
  dockerAwayMs: 5000,
  settleMs: 420_000,
};

export function countTasks({ tasks }: StormForm): number {
  return tasks.fix + tasks.review + tasks.batch;
}
