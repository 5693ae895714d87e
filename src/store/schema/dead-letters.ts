import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { Failure } from '../../domain/failure.ts';
import { at } from './columns.ts';
import { tasks } from './tasks.ts';

/** What failed for good, with all that is needed to understand it and to try it again. */
export const deadLetters = pgTable(
  'dead_letters',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind').$type<'delivery' | 'task' | 'subtask' | 'publication'>().notNull(),
    /** Id of the row of that kind: a delivery's, a task's (planning, or publishing as a whole), a subtask's, a key. */
    ref: text('ref').notNull(),
    taskId: uuid('task_id').references(() => tasks.id, { onDelete: 'cascade' }),
    failure: jsonb('failure').$type<Failure>().notNull(),
    /** Kind-specific: attempts with their workers, failures and artifacts; what was being sent. */
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull().default({}),
    status: text('status').$type<'dead' | 'retried' | 'dropped'>().notNull().default('dead'),
    createdAt: at('created_at').notNull().defaultNow(),
    settledAt: at('settled_at'),
  },
  (t) => [
    uniqueIndex('dead_letters_one').on(t.kind, t.ref).where(sql`${t.status} = 'dead'`),
    index('dead_letters_task').on(t.taskId),
  ],
);
