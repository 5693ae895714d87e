import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import { ago, now } from './clock.ts';
import type { Database } from './database.ts';
import type { DueWork } from './port/due.ts';
import { attempts, deliveries, publications, subtasks, tasks, usage } from './schema.ts';
import { mayPublish } from './settle.ts';
import { endOverdueTasks } from './task-limit.ts';

/** What the rows say is due. The queue is only a faster way to learn it. */
export function createDueWork(db: Database): DueWork {
  return {
    deliveries: async (olderThanMs) => {
      const rows = await db
        .select({ id: deliveries.id })
        .from(deliveries)
        .where(and(eq(deliveries.status, 'received'), lt(deliveries.receivedAt, ago(olderThanMs))))
        .orderBy(deliveries.receivedAt)
        .limit(1000);
      return rows.map((row) => row.id);
    },

    tasks: (phase) =>
      db
        .select({ id: tasks.id, priority: tasks.priority })
        .from(tasks)
        .where(
          and(
            eq(tasks.phase, phase),
            // A pause of publishing does not hold back the work itself.
            phase === 'publishing' ? mayPublish : undefined,
          ),
        )
        .orderBy(tasks.createdAt),

    attempts: (olderThanMs) =>
      db
        .select({ id: attempts.id, repositoryId: tasks.repositoryId, priority: tasks.priority })
        .from(attempts)
        .innerJoin(tasks, eq(tasks.id, attempts.taskId))
        .where(and(eq(attempts.status, 'queued'), lt(attempts.queuedAt, ago(olderThanMs))))
        .orderBy(attempts.queuedAt)
        // Wake-ups are all alike, and each worker that is woken goes on by itself.
        .limit(50),

    endOverdue: (limitMs) => endOverdueTasks(db, limitMs),

    checkRuns: async (olderThanMs) => {
      const { rows } = await db.execute<{ id: string; priority: number }>(sql`
        select t.id, t.priority from ${publications} p join ${tasks} t on t.id = p.task_id
         where p.kind = 'check_run' and p.detail->>'concluded' is distinct from 'true'
           and p.github_id is not null and p.status <> 'failed' and p.sent_at < ${ago(olderThanMs)}
           and t.phase = 'finished'
           and not exists (
             select 1 from ${tasks} other
              where other.repository_id = t.repository_id and other.head_sha = t.head_sha
                and other.kind = 'review' and other.phase <> 'finished')
         order by p.sent_at limit 100`);
      return rows;
    },

    loseAttempts: async (leaseMs) => {
      const stale = await db
        .select({ id: attempts.id, taskId: attempts.taskId })
        .from(attempts)
        .where(and(eq(attempts.status, 'running'), lt(attempts.heartbeatAt, ago(leaseMs))));
      const touched = new Set<string>();
      for (const { id, taskId } of stale) {
        const lost = await db.transaction(async (tx) => {
          await tx.select({ id: tasks.id }).from(tasks).where(eq(tasks.id, taskId)).for('no key update');
          const [attempt] = await tx
            .update(attempts)
            .set({
              status: 'lost',
              finishedAt: now,
              failure: { code: 'worker_lost', detail: 'no sign of life from its worker' },
            })
            .where(
              and(
                eq(attempts.id, id),
                eq(attempts.status, 'running'),
                lt(attempts.heartbeatAt, ago(leaseMs)),
              ),
            )
            .returning({ subtaskId: attempts.subtaskId });
          if (attempt === undefined) return false;
          await tx
            .update(subtasks)
            .set({ deaths: sql`${subtasks.deaths} + 1` })
            .where(and(eq(subtasks.id, attempt.subtaskId), inArray(subtasks.status, ['waiting', 'running'])));
          // Nobody is left to say what its last call used: what was reserved counts, as an estimate.
          await tx
            .update(usage)
            .set({ state: 'settled', estimated: true, settledAt: now })
            .where(and(eq(usage.attemptId, id), eq(usage.state, 'reserved')));
          return true;
        });
        if (lost) touched.add(taskId);
      }
      return [...touched];
    },
  };
}
