import { sql } from 'drizzle-orm';
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Failure } from '../../domain/failure.ts';
import type { RequestedRow } from '../../domain/fork.ts';
import type { AttemptStatus } from '../../domain/task.ts';
import { at, big } from './columns.ts';
import { subtasks, tasks } from './tasks.ts';

export const attempts = pgTable(
  'attempts',
  {
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    subtaskId: uuid('subtask_id')
      .notNull()
      .references(() => subtasks.id, { onDelete: 'cascade' }),
    /** 1-based within the subtask. */
    number: integer('number').notNull(),
    /** Raised by every claim; a result that carries an older one is refused. */
    epoch: integer('epoch').notNull().default(0),
    status: text('status').$type<AttemptStatus>().notNull().default('queued'),
    worker: text('worker'),
    containerId: text('container_id'),
    failure: jsonb('failure').$type<Failure>(),
    turns: integer('turns').notNull().default(0),
    /** Rows its agent asks for; decided by the scheduler, once. */
    requested: jsonb('requested').$type<RequestedRow[]>().notNull().default([]),
    queuedAt: at('queued_at').notNull().defaultNow(),
    claimedAt: at('claimed_at'),
    heartbeatAt: at('heartbeat_at'),
    /** When the agent began (sandbox up) and ended. */
    agentStartedAt: at('agent_started_at'),
    finishedAt: at('finished_at'),
  },
  (t) => [
    unique('attempts_number').on(t.subtaskId, t.number),
    uniqueIndex('attempts_one_live').on(t.subtaskId).where(sql`${t.status} in ('queued', 'running')`),
    index('attempts_live').on(t.status).where(sql`${t.status} in ('queued', 'running')`),
    index('attempts_task').on(t.taskId),
  ],
);

/** Names for content in the artifact directory. */
export const artifacts = pgTable(
  'artifacts',
  {
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    attemptId: uuid('attempt_id').references(() => attempts.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    /** SHA-256 of the content, hex. */
    digest: text('digest').notNull(),
    bytes: big('bytes').notNull(),
    mediaType: text('media_type').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [unique('artifacts_name').on(t.taskId, t.attemptId, t.name)],
);

/** Tokens: reserved before each call, settled after. The budget of a task is the sum over its rows. */
export const usage = pgTable(
  'usage',
  {
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    subtaskId: uuid('subtask_id').notNull(),
    attemptId: uuid('attempt_id').notNull(),
    channel: text('channel').notNull(),
    model: text('model').notNull(),
    state: text('state').$type<'reserved' | 'settled'>().notNull(),
    /** Tokens that count against the budget: the reservation until settled, then what was used. */
    tokens: integer('tokens').notNull(),
    promptTokens: integer('prompt_tokens').notNull().default(0),
    cachedTokens: integer('cached_tokens').notNull().default(0),
    completionTokens: integer('completion_tokens').notNull().default(0),
    /** Millionths of a US dollar. */
    costMicros: big('cost_micros').notNull().default(0),
    estimated: boolean('estimated').notNull().default(false),
    createdAt: at('created_at').notNull().defaultNow(),
    settledAt: at('settled_at'),
  },
  (t) => [
    index('usage_task').on(t.taskId),
    index('usage_channel').on(t.channel, t.createdAt.desc()).where(sql`${t.state} = 'settled'`),
  ],
);
