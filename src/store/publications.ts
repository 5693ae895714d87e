import { eq } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Database } from './database.ts';
import { bury, settleLetter } from './dead-letters.ts';
import type { Publications } from './port/publications.ts';
import { publications } from './schema.ts';

/**
 * What GitHub was told, one row an object (design decision 9). Callers hold the lock of the key: `begin`
 * reads and writes in two steps.
 */
export function createPublications(db: Database): Publications {
  return {
    get: async (key) => (await db.select().from(publications).where(eq(publications.key, key)))[0] ?? null,

    ofTask: (taskId) =>
      db.select().from(publications).where(eq(publications.taskId, taskId)).orderBy(publications.key),

    begin: (key, kind, taskId) =>
      db.transaction(async (tx) => {
        await tx.insert(publications).values({ key, kind, taskId }).onConflictDoNothing();
        const [before] = await tx.select().from(publications).where(eq(publications.key, key)).for('update');
        if (before === undefined) throw new Error('insert returned no row');
        await tx
          .update(publications)
          .set({
            status: 'sending',
            failure: null,
            sentAt: now,
            // A check run belongs to the task that wrote it last; what no task asks for keeps its task.
            ...(taskId === null ? {} : { taskId }),
          })
          .where(eq(publications.key, key));
        return before;
      }),

    done: (key, result) =>
      db.transaction(async (tx) => {
        await tx
          .update(publications)
          .set({ ...result, status: 'done', failure: null, sentAt: now })
          .where(eq(publications.key, key));
        await settleLetter(tx, 'publication', key);
      }),

    fail: (key, failure) =>
      db.transaction(async (tx) => {
        const [row] = await tx
          .update(publications)
          .set({ status: 'failed', failure })
          .where(eq(publications.key, key))
          .returning();
        if (row === undefined) return;
        const { kind, taskId, githubId, url, sentAt } = row;
        const detail = { kind, githubId, url, sentAt, ...row.detail };
        await bury(tx, { kind: 'publication', ref: key, taskId, failure, detail });
      }),
  };
}
