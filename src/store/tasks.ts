import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import { remainingPaths } from '../domain/remaining-path.ts';
import { inTime, now } from './clock.ts';
import type { Database, Executor } from './database.ts';
import { bury } from './dead-letters.ts';
import { gatherIssue } from './gather-issue.ts';
import type { Tasks } from './port/tasks.ts';
import { candidates, dependencies, subtasks, tasks } from './schema.ts';
import { mayPublish, publishAtOnce, settle } from './settle.ts';

/** Tasks and their plans. Every transition is one transaction. */
export function createTasks(db: Database): Tasks {
  return {
    create: (task) =>
      db.transaction(async (tx) => {
        // Creations for one pull request follow one another: two heads never both supersede, or neither.
        await tx.execute(
          sql`select pg_advisory_xact_lock(hashtextextended(${`pull:${task.repositoryId}:${task.number}`}, 0))`,
        );
        const [known] = await tx.select().from(tasks).where(eq(tasks.key, task.key));
        if (known !== undefined) return { task: known, created: false, superseded: [] };
        const superseded = task.kind === 'review' ? await supersede(tx, task.repositoryId, task.number) : [];
        const { held, done, ...columns } = task;
        const over = task.failure !== null || done === true;
        const outcome = task.failure === null ? ('succeeded' as const) : ('failed' as const);
        const [created] = await tx
          .insert(tasks)
          .values({
            ...columns,
            id: randomUUID(),
            ...(held === true ? { phase: 'held' as const } : {}),
            ...(over ? { phase: 'publishing' as const, outcome, settledAt: now } : {}),
          })
          .returning();
        if (created === undefined) throw new Error('insert returned no row');
        return { task: created, created: true, superseded };
      }),

    get: async (id) => (await db.select().from(tasks).where(eq(tasks.id, id)))[0] ?? null,

    toPublish: async (id) =>
      (
        await db
          .select()
          .from(tasks)
          .where(and(eq(tasks.id, id), mayPublish))
      )[0] ?? null,

    ofPull: (repositoryId, number) =>
      db
        .select()
        .from(tasks)
        .where(
          and(
            eq(tasks.repositoryId, repositoryId),
            or(
              eq(tasks.number, number),
              and(eq(tasks.kind, 'batch'), sql`${tasks.issues} @> ${JSON.stringify([{ number }])}::jsonb`),
            ),
          ),
        )
        .orderBy(desc(tasks.createdAt), desc(tasks.id)),

    heldIn: (repositoryId) =>
      db
        .select()
        .from(tasks)
        .where(and(eq(tasks.repositoryId, repositoryId), eq(tasks.phase, 'held'), isNull(tasks.startAfter)))
        .orderBy(asc(tasks.createdAt), asc(tasks.id)),

    settle: (id, outcome, failure) =>
      db.transaction(async (tx) => {
        if (!(await settle(tx, id, outcome, failure))) return false;
        if (outcome === 'failed' && failure !== null)
          await bury(tx, { kind: 'task', ref: id, taskId: id, failure, detail: { while: 'planning' } });
        return true;
      }),

    beginPlanning: async (id) => {
      const [row] = await db
        .update(tasks)
        .set({ planAttempts: sql`${tasks.planAttempts} + 1`, updatedAt: now })
        .where(and(eq(tasks.id, id), eq(tasks.phase, 'planning')))
        .returning({ planAttempts: tasks.planAttempts });
      return row?.planAttempts ?? null;
    },

    storePlan: (id, plan, facts) =>
      db.transaction(async (tx) => {
        const [task] = await tx
          .update(tasks)
          .set({
            phase: 'running',
            contract: plan.contract,
            serialReason: plan.serialReason ?? '',
            mergeBase: facts.mergeBase,
            skipped: [...facts.skipped],
            filesChanged: facts.filesChanged,
            plannedAt: now,
            updatedAt: now,
          })
          .where(and(eq(tasks.id, id), eq(tasks.phase, 'planning')))
          .returning({ planOnly: tasks.planOnly });
        if (task === undefined) return false;
        const never = task.planOnly ? { status: 'skipped' as const, finishedAt: now } : {};
        if (task.planOnly) await settle(tx, id, 'succeeded', null);
        const ids = plan.rows.map(() => randomUUID());
        if (ids.length === 0) return true;
        const paths = remainingPaths(plan.rows);
        const rows = plan.rows.map((row, index) => ({
          id: ids[index] ?? randomUUID(),
          taskId: id,
          row: index,
          kind: row.kind ?? 'agent',
          waitsFor: row.waitsFor ?? 'success',
          issue: row.issue ?? null,
          title: row.title,
          agent: row.agent,
          matrix: row.matrix,
          complexity: row.complexity,
          path: paths[index] ?? row.complexity,
          weight: row.weight ?? 1,
          memoryMib: row.memoryMib ?? null,
          fallbacks: [...(row.fallbacks ?? [])],
          unmet: row.dependsOn.length,
          ...never,
        }));
        for (const part of inParts(rows)) await tx.insert(subtasks).values(part);
        const edges = plan.rows.flatMap((row, index) =>
          row.dependsOn.map((on) => ({ subtaskId: ids[index] ?? '', dependsOn: ids[on] ?? '' })),
        );
        for (const part of inParts(edges)) await tx.insert(dependencies).values(part);
        return true;
      }),

    gather: (task, issue, limits) => gatherIssue(db, task, issue, limits),

    release: async (id) => {
      const rows = await db
        .update(tasks)
        .set({ phase: 'planning', updatedAt: now })
        .where(and(eq(tasks.id, id), eq(tasks.phase, 'held')))
        .returning({ id: tasks.id });
      return rows.length > 0;
    },

    releaseDue: () =>
      db
        .update(tasks)
        .set({ phase: 'planning', updatedAt: now })
        .where(and(eq(tasks.phase, 'held'), lte(tasks.startAfter, now)))
        .returning({ id: tasks.id, priority: tasks.priority }),

    reopenIntegration: (id, subtaskId) =>
      db.transaction(async (tx) => {
        const [task] = await tx
          .update(tasks)
          .set({ phase: 'running', outcome: null, settledAt: null, updatedAt: now, ...publishAtOnce })
          .where(and(eq(tasks.id, id), eq(tasks.phase, 'publishing')))
          .returning({ id: tasks.id });
        if (task === undefined) return false;
        await tx
          .update(subtasks)
          .set({ status: 'waiting', finishedAt: null, failures: 0, deaths: 0, failure: null })
          .where(and(eq(subtasks.id, subtaskId), eq(subtasks.taskId, id), eq(subtasks.kind, 'integrate')));
        await tx
          .update(candidates)
          .set({ rounds: sql`${candidates.rounds} + 1` })
          .where(eq(candidates.subtaskId, subtaskId));
        return true;
      }),

    pausePublishing: async ({ id, phase, publishTries }, pauseMs) => {
      const rows = await db
        .update(tasks)
        .set({ publishTries: publishTries + 1, publishAfter: inTime(pauseMs), updatedAt: now })
        .where(and(eq(tasks.id, id), eq(tasks.phase, phase), eq(tasks.publishTries, publishTries)))
        .returning({ id: tasks.id });
      return rows.length > 0;
    },

    resumePublishing: async (id) => {
      await db.update(tasks).set(publishAtOnce).where(eq(tasks.id, id));
    },

    finish: async (id) => {
      await db
        .update(tasks)
        .set({ phase: 'finished', finishedAt: now, updatedAt: now })
        .where(and(eq(tasks.id, id), eq(tasks.phase, 'publishing')));
    },

    giveUpPublishing: (id, failure, detail) =>
      db.transaction(async (tx) => {
        const rows = await tx
          .update(tasks)
          .set({ phase: 'finished', finishedAt: now, updatedAt: now })
          .where(and(eq(tasks.id, id), eq(tasks.phase, 'publishing')))
          .returning({ id: tasks.id });
        if (rows.length > 0) await bury(tx, { kind: 'publication', ref: id, taskId: id, failure, detail });
      }),
  };
}

/** A statement takes at most 65,535 values. */
function inParts<T>(rows: readonly T[], most = 1000): T[][] {
  return Array.from({ length: Math.ceil(rows.length / most) }, (_, part) =>
    rows.slice(part * most, (part + 1) * most),
  );
}

async function supersede(tx: Executor, repositoryId: number, number: number): Promise<string[]> {
  const open = await tx
    .select({ id: tasks.id })
    .from(tasks)
    .where(
      and(
        eq(tasks.repositoryId, repositoryId),
        eq(tasks.number, number),
        eq(tasks.kind, 'review'),
        inArray(tasks.phase, ['planning', 'running']),
      ),
    );
  const superseded: string[] = [];
  for (const { id } of open) if (await settle(tx, id, 'superseded', null)) superseded.push(id);
  return superseded;
}
