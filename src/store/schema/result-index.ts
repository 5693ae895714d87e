import { index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { PatchEntry } from '../../domain/patch.ts';
import { at } from './columns.ts';
import { tasks } from './tasks.ts';

/** Verified patches by what they were made from, so that the same work is not paid twice. */
export const resultIndex = pgTable(
  'result_index',
  {
    /** SHA-256 over repository, goal, contents of the inputs, agent, model and configuration. */
    key: text('key').primaryKey(),
    /** SHA-256 over the same without the goal: those that may be similar. */
    family: text('family').notNull(),
    goal: text('goal').notNull(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    entries: jsonb('entries').$type<PatchEntry[]>().notNull(),
    /** `git diff --binary`, as an artifact. */
    digest: text('digest').notNull(),
    summary: text('summary').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [index('result_index_family').on(t.family, t.createdAt)],
);
