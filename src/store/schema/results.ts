import { index, integer, jsonb, pgTable, real, text, unique, uuid } from 'drizzle-orm/pg-core';
import type { Candidate } from '../../domain/candidate.ts';
import type { Failure } from '../../domain/failure.ts';
import type { Severity } from '../../domain/finding.ts';
import type { PatchEntry } from '../../domain/patch.ts';
import type { Triage } from '../../domain/triage.ts';
import type { Verdict, VerificationReport } from '../../domain/verification.ts';
import { at, big } from './columns.ts';
import { subtasks, tasks } from './tasks.ts';

export const findings = pgTable(
  'findings',
  {
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    subtaskId: uuid('subtask_id')
      .notNull()
      .references(() => subtasks.id, { onDelete: 'cascade' }),
    /** Position within the attempt's report. */
    position: integer('position').notNull(),
    agent: text('agent').notNull(),
    fingerprint: text('fingerprint').notNull(),
    path: text('path').notNull(),
    side: text('side').$type<'LEFT' | 'RIGHT'>().notNull(),
    startLine: integer('start_line').notNull(),
    endLine: integer('end_line').notNull(),
    severity: text('severity').$type<Severity>().notNull(),
    confidence: real('confidence').notNull(),
    rule: text('rule').notNull(),
    title: text('title').notNull(),
    body: text('body').notNull(),
    quote: text('quote').notNull(),
    replacement: text('replacement'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [unique('findings_position').on(t.subtaskId, t.position), index('findings_task').on(t.taskId)],
);

/** What the agent of a subtask changed, after it passed scope, policy and verification. */
export const patches = pgTable('patches', {
  subtaskId: uuid('subtask_id')
    .primaryKey()
    .references(() => subtasks.id, { onDelete: 'cascade' }),
  taskId: uuid('task_id')
    .notNull()
    .references(() => tasks.id, { onDelete: 'cascade' }),
  baseCommit: text('base_commit').notNull(),
  tree: text('tree').notNull(),
  /** A commit in the mirror; made anew from the artifact where the mirror lacks it. */
  commit: text('commit').notNull(),
  entries: jsonb('entries').$type<PatchEntry[]>().notNull(),
  /** `git diff --binary` against the base, as an artifact. */
  digest: text('digest').notNull(),
  verdict: jsonb('verdict').$type<Verdict>().notNull(),
});

/** What an integrating subtask gave: the newest one counts. */
export const candidates = pgTable('candidates', {
  subtaskId: uuid('subtask_id')
    .primaryKey()
    .references(() => subtasks.id, { onDelete: 'cascade' }),
  taskId: uuid('task_id')
    .notNull()
    .references(() => tasks.id, { onDelete: 'cascade' }),
  candidate: jsonb('candidate').$type<Candidate>().notNull(),
  /** Times it was asked for: once, and each time the target had moved. */
  rounds: integer('rounds').notNull().default(1),
  createdAt: at('created_at').notNull().defaultNow(),
});

/** Reports of trees; see domain/verification.ts. The key holds tree, commands and image. */
export const verifications = pgTable(
  'verifications',
  {
    key: text('key').primaryKey(),
    report: jsonb('report').$type<VerificationReport>().notNull(),
    repositoryId: big('repository_id'),
    /** Most memory its sandbox had in use, MiB; null: not known. */
    peakMib: integer('peak_mib'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [index('verifications_memory').on(t.repositoryId, t.createdAt.desc())],
);

/** What triage found out about an issue. */
export const triages = pgTable('triages', {
  subtaskId: uuid('subtask_id')
    .primaryKey()
    .references(() => subtasks.id, { onDelete: 'cascade' }),
  taskId: uuid('task_id')
    .notNull()
    .references(() => tasks.id, { onDelete: 'cascade' }),
  triage: jsonb('triage').$type<Triage>().notNull(),
});

/** Setups that failed, by the key of what they would have prepared: none is tried again while its answer is fresh. */
export const failedSetups = pgTable('failed_setups', {
  key: text('key').primaryKey(),
  repositoryId: big('repository_id').notNull(),
  failure: jsonb('failure').$type<Failure>().notNull(),
  createdAt: at('created_at').notNull().defaultNow(),
});
