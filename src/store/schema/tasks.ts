import { sql } from 'drizzle-orm';
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  real,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import type { RepositoryConfig } from '../../config/repository-config.ts';
import type { SkippedFile } from '../../domain/change.ts';
import type { Failure } from '../../domain/failure.ts';
import type { MatrixRow } from '../../domain/matrix.ts';
import type {
  SubjectIssue,
  SubjectKind,
  SubtaskKind,
  SubtaskStatus,
  TaskKind,
  TaskOutcome,
  TaskPhase,
  Trigger,
} from '../../domain/task.ts';
import { at, big } from './columns.ts';

export const tasks = pgTable(
  'tasks',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind').$type<TaskKind>().notNull(),
    /** What makes two triggers the same piece of work, e.g. `review:<repository>:<pull>:<head>`. */
    key: text('key').notNull().unique(),
    phase: text('phase').$type<TaskPhase>().notNull().default('planning'),
    outcome: text('outcome').$type<TaskOutcome>(),
    /** Why the task as a whole failed (planning, configuration); failures of subtasks are on their rows. */
    failure: jsonb('failure').$type<Failure>(),
    installationId: big('installation_id').notNull(),
    repositoryId: big('repository_id').notNull(),
    owner: text('owner').notNull(),
    repo: text('repo').notNull(),
    subject: text('subject').$type<SubjectKind>().notNull().default('pull_request'),
    /** Of the pull request or issue; 0 for a branch. */
    number: integer('number').notNull(),
    headSha: text('head_sha').notNull(),
    baseSha: text('base_sha').notNull(),
    baseRef: text('base_ref').notNull(),
    /** Title and body of the pull request, frozen at trigger time: data, never instructions. */
    title: text('title').notNull(),
    body: text('body').notNull(),
    /** What was asked for, in the words of whoever asked: data, never instructions to us. */
    instruction: text('instruction').notNull().default(''),
    /** The issues of a batch. */
    issues: jsonb('issues').$type<SubjectIssue[]>().notNull().default([]),
    /** Branch the result goes to; empty for what changes nothing. */
    targetRef: text('target_ref').notNull().default(''),
    /** The head is in another repository: nothing can be pushed to it. */
    fork: boolean('fork').notNull().default(false),
    /** A held task begins then; null: when it is approved. */
    startAfter: at('start_after'),
    trigger: jsonb('trigger').$type<Trigger>().notNull(),
    /** The repository file as it was on the base branch at trigger time; null when it could not be read. */
    config: jsonb('config').$type<RepositoryConfig>(),
    /** Lower runs first: commands 10, pull requests 20. */
    priority: integer('priority').notNull(),
    contract: text('contract').notNull().default(''),
    mergeBase: text('merge_base'),
    skipped: jsonb('skipped').$type<SkippedFile[]>().notNull().default([]),
    filesChanged: integer('files_changed').notNull().default(0),
    /** Attempts of planning so far. */
    planAttempts: integer('plan_attempts').notNull().default(0),
    /** Why it runs as one subtask, in plain words; empty: nothing speaks against running in parallel. */
    serialReason: text('serial_reason').notNull().default(''),
    /** Planned and shown, never run. */
    planOnly: boolean('plan_only').notNull().default(false),
    /** Retries that its rows have taken of `limits.task_retries`. */
    retriesUsed: integer('retries_used').notNull().default(0),
    /** Publishes that failed in a row, and before when none is tried again. */
    publishTries: integer('publish_tries').notNull().default(0),
    publishAfter: at('publish_after'),
    createdAt: at('created_at').notNull().defaultNow(),
    plannedAt: at('planned_at'),
    settledAt: at('settled_at'),
    finishedAt: at('finished_at'),
    updatedAt: at('updated_at').notNull().defaultNow(),
  },
  (t) => [
    index('tasks_open').on(t.phase).where(sql`${t.phase} <> 'finished'`),
    index('tasks_head').on(t.repositoryId, t.headSha),
    index('tasks_pull').on(t.repositoryId, t.number),
  ],
);

export const subtasks = pgTable(
  'subtasks',
  {
    id: uuid('id').primaryKey(),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    /** 0-based position in the plan; results are ordered by it. */
    row: integer('row').notNull(),
    kind: text('kind').$type<SubtaskKind>().notNull().default('agent'),
    waitsFor: text('waits_for').$type<'success' | 'end'>().notNull().default('success'),
    /** The issue of a batch it works for. */
    issue: integer('issue'),
    title: text('title').notNull(),
    agent: text('agent').notNull(),
    matrix: jsonb('matrix').$type<MatrixRow>().notNull(),
    complexity: real('complexity').notNull(),
    /** Complexity of the heaviest chain of rows that begins with it: the longest starts first. */
    path: real('path').notNull().default(0),
    /** What it takes of a worker's `limits.parallel`. */
    weight: integer('weight').notNull().default(1),
    /** Agents that may still be tried where this one fails, in order. */
    fallbacks: jsonb('fallbacks').$type<string[]>().notNull().default([]),
    /** How often it was cut from a larger row, and the row it was last cut from. */
    depth: integer('depth').notNull().default(0),
    parent: uuid('parent'),
    status: text('status').$type<SubtaskStatus>().notNull().default('waiting'),
    /** Dependencies not yet met. */
    unmet: integer('unmet').notNull().default(0),
    /** Attempts that failed by themselves, and workers lost on it. */
    failures: integer('failures').notNull().default(0),
    deaths: integer('deaths').notNull().default(0),
    /** Times it ran again after its patch, or the candidate with it, failed the checks; and after a conflict. */
    verificationReruns: integer('verification_reruns').notNull().default(0),
    conflictReruns: integer('conflict_reruns').notNull().default(0),
    /** The commit a re-run begins with, in place of the task's head; null: the head. */
    base: text('base'),
    /** What the agent is told about the run before: failing checks, a conflict. Empty at first. */
    feedback: text('feedback').notNull().default(''),
    /** Memory its next attempt is given, MiB; null: the operator's default. Raised where one ran out of it. */
    memoryMib: integer('memory_mib'),
    failure: jsonb('failure').$type<Failure>(),
    summary: text('summary').notNull().default(''),
    /** Findings refused because their anchor does not exist. */
    refused: integer('refused').notNull().default(0),
    /** Not started before; the backoff of a retry. */
    notBefore: at('not_before'),
    startedAt: at('started_at'),
    finishedAt: at('finished_at'),
  },
  (t) => [
    unique('subtasks_row').on(t.taskId, t.row),
    index('subtasks_running').on(t.taskId).where(sql`${t.status} = 'running'`),
    index('subtasks_ready').on(t.taskId, t.unmet, t.path.desc(), t.row).where(sql`${t.status} = 'waiting'`),
    index('subtasks_pausing')
      .on(t.taskId, t.notBefore)
      .where(sql`${t.status} = 'waiting' and ${t.notBefore} is not null`),
  ],
);

export const dependencies = pgTable(
  'dependencies',
  {
    subtaskId: uuid('subtask_id')
      .notNull()
      .references(() => subtasks.id, { onDelete: 'cascade' }),
    dependsOn: uuid('depends_on')
      .notNull()
      .references(() => subtasks.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.subtaskId, t.dependsOn] }), index('dependencies_on').on(t.dependsOn)],
);
