import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { attempts } from './attempts.ts';
import { at, bytes } from './columns.ts';
import { subtasks } from './tasks.ts';

/**
 * Where the agent of a subtask stood after each of its turns, so that another worker goes on from there. A run that
 * begins anew begins without them.
 */
export const checkpoints = pgTable(
  'checkpoints',
  {
    subtaskId: uuid('subtask_id')
      .notNull()
      .references(() => subtasks.id, { onDelete: 'cascade' }),
    /** 1-based. */
    turn: integer('turn').notNull(),
    /** That wrote it. */
    attemptId: uuid('attempt_id')
      .notNull()
      .references(() => attempts.id, { onDelete: 'cascade' }),
    /**
     * JSON: `messages`, what the turn added to the conversation, and `beginning`, the digest of what it began with.
     * Text, since jsonb refuses `\u0000`.
     */
    messages: text('messages').notNull(),
    /** Prompt and completion tokens of the turn. */
    tokens: integer('tokens').notNull(),
    /**
     * `git diff --binary` of the workspace against its snapshot; null: unchanged since the turn before, or a later turn
     * has it.
     */
    patch: bytes('patch'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.subtaskId, t.turn] }), index('checkpoints_attempt').on(t.attemptId)],
);
