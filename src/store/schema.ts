import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  real,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { RepositoryConfig } from '../config/repository-config.ts';
import type { Candidate } from '../domain/candidate.ts';
import type { SkippedFile } from '../domain/change.ts';
import type { Failure } from '../domain/failure.ts';
import type { Severity } from '../domain/finding.ts';
import type { MatrixRow } from '../domain/matrix.ts';
import type { PatchEntry } from '../domain/patch.ts';
import type {
  AttemptStatus,
  SubjectIssue,
  SubjectKind,
  SubtaskKind,
  SubtaskStatus,
  TaskKind,
  TaskOutcome,
  TaskPhase,
  Trigger,
} from '../domain/task.ts';
import type { Triage } from '../domain/triage.ts';
import type { Verdict, VerificationReport } from '../domain/verification.ts';

/**
 * The rows that are the truth (design decision 1). The queue can be rebuilt from them: what is due is a
 * query over `deliveries`, `tasks` and `attempts`; see `store/due.ts`.
 */

const at = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const big = (name: string) => bigint(name, { mode: 'number' });

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
    status: text('status').$type<SubtaskStatus>().notNull().default('waiting'),
    /** Dependencies not yet met. */
    unmet: integer('unmet').notNull().default(0),
    /** Attempts that failed by themselves, and workers lost on it. */
    failures: integer('failures').notNull().default(0),
    deaths: integer('deaths').notNull().default(0),
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
    index('subtasks_open').on(t.taskId).where(sql`${t.status} in ('waiting', 'running')`),
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
  /** Times it was made, since the target moved. */
  rounds: integer('rounds').notNull().default(1),
  createdAt: at('created_at').notNull().defaultNow(),
});

/** Reports of trees; see domain/verification.ts. The key holds tree, commands and image. */
export const verifications = pgTable('verifications', {
  key: text('key').primaryKey(),
  report: jsonb('report').$type<VerificationReport>().notNull(),
  createdAt: at('created_at').notNull().defaultNow(),
});

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
  (t) => [index('publications_task').on(t.taskId)],
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
  (t) => [index('usage_task').on(t.taskId)],
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
