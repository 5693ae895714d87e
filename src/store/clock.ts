import { sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/**
 * The one clock of what is stored: that of the database. Processes run on machines whose clocks differ, so none of
 * theirs is written to a row or compared with one. It stands still within a statement, not within a transaction: one
 * that waited for a lock must not write when it began to wait.
 */
export const now = sql`statement_timestamp()`;

export const ago = (ms: number) => sql`${now} - ${interval(ms)}`;
export const inTime = (ms: number) => sql`${now} + ${interval(ms)}`;

/** Of milliseconds. */
export const interval = (ms: number) => sql`make_interval(secs => ${ms}::float8 / 1000)`;

/** What it says now, to whole milliseconds: for decisions that are made here and for several rows with one time. */
export async function readClock(tx: Executor): Promise<Date> {
  const { rows } = await tx.execute<{ now: Date | string }>(sql`select ${now} as now`);
  if (rows[0] === undefined) throw new Error('select returned no row');
  return new Date(rows[0].now);
}
