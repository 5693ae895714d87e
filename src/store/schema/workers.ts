import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { at } from './columns.ts';

/** Processes that run attempts, by their sign of life. One that stopped as told has no row. */
export const workers = pgTable('workers', {
  /** As in `attempts.worker`: unique per process. */
  name: text('name').primaryKey(),
  /** Weight it can take at once: its `limits.parallel`. */
  capacity: integer('capacity').notNull(),
  startedAt: at('started_at').notNull().defaultNow(),
  seenAt: at('seen_at').notNull().defaultNow(),
});
