import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { at } from './columns.ts';

/** One webhook POST. Stored before it is answered; `received` rows are what admission still owes. */
export const deliveries = pgTable(
  'deliveries',
  {
    /** `X-GitHub-Delivery`. */
    id: text('id').primaryKey(),
    event: text('event').notNull(),
    action: text('action'),
    /** The body as it came: text, since jsonb refuses `\u0000`. */
    body: text('body').notNull(),
    status: text('status')
      .$type<'received' | 'admitted' | 'ignored' | 'failed'>()
      .notNull()
      .default('received'),
    /** Why it was ignored or failed, in plain words. */
    reason: text('reason'),
    attempts: integer('attempts').notNull().default(0),
    receivedAt: at('received_at').notNull().defaultNow(),
    settledAt: at('settled_at'),
  },
  (t) => [index('deliveries_due').on(t.receivedAt).where(sql`${t.status} = 'received'`)],
);

/** Who asked for what, and what was decided: commands, permissions, refusals. */
export const audit = pgTable(
  'audit',
  {
    id: uuid('id').primaryKey(),
    at: at('at').notNull().defaultNow(),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    subject: text('subject').notNull(),
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull().default({}),
  },
  (t) => [index('audit_at').on(t.at)],
);
