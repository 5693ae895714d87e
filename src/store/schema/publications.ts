import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { Failure } from '../../domain/failure.ts';
import { at, big } from './columns.ts';
import { tasks } from './tasks.ts';

/** One idempotent effect on GitHub (design decision 9). */
export const publications = pgTable(
  'publications',
  {
    /** e.g. `check:<repository>:<head>`, `review:<task>`, `comment:<task>`, `reaction:<comment>`. */
    key: text('key').primaryKey(),
    taskId: uuid('task_id').references(() => tasks.id, { onDelete: 'cascade' }),
    kind: text('kind')
      .$type<'check_run' | 'review' | 'comment' | 'reaction' | 'branch' | 'pull_request' | 'labels'>()
      .notNull(),
    /** `sending`: a write began and its answer was never stored: look the marker up before writing again. */
    status: text('status').$type<'pending' | 'sending' | 'done' | 'failed'>().notNull().default('pending'),
    /** GitHub's id of the object, once known. */
    githubId: big('github_id'),
    url: text('url'),
    /** Fingerprint of the content GitHub last acknowledged; a body that did not change is not sent. */
    fingerprint: text('fingerprint'),
    /** Kind-specific: annotations sent, inline and body counts. */
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull().default({}),
    failure: jsonb('failure').$type<Failure>(),
    sentAt: at('sent_at'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [
    index('publications_task').on(t.taskId),
    index('publications_open_checks')
      .on(t.sentAt)
      .where(sql`${t.kind} = 'check_run' and ${t.detail}->>'concluded' is distinct from 'true'`),
  ],
);
