import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq, sql } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Database, Executor } from './database.ts';
import type { DeadLetters, LetterAttempt } from './port/dead-letters.ts';
import type { DeadLetter } from './port.ts';
import { revive } from './revive.ts';
import { artifacts, attempts, deadLetters, tasks } from './schema.ts';

export type NewDeadLetter = Pick<
  typeof deadLetters.$inferInsert,
  'kind' | 'ref' | 'taskId' | 'failure' | 'detail'
>;

/** Keeps what failed for good, in the transaction that gives it up. What lies there already stays as it is. */
export async function bury(tx: Executor, letter: NewDeadLetter): Promise<void> {
  await tx
    .insert(deadLetters)
    .values({ ...letter, id: randomUUID() })
    .onConflictDoNothing();
}

/** It went well after all. */
export async function settleLetter(tx: Executor, kind: DeadLetter['kind'], ref: string): Promise<void> {
  await tx
    .update(deadLetters)
    .set({ status: 'retried', settledAt: now })
    .where(and(eq(deadLetters.kind, kind), eq(deadLetters.ref, ref), eq(deadLetters.status, 'dead')));
}

/** What failed for good, as an operator reads and settles it. */
export function createDeadLetters(db: Database): DeadLetters {
  return {
    list: async () => {
      const rows = await db
        .select({ letter: deadLetters, task: tasks })
        .from(deadLetters)
        .leftJoin(tasks, eq(tasks.id, deadLetters.taskId))
        .where(eq(deadLetters.status, 'dead'))
        .orderBy(desc(deadLetters.createdAt), asc(deadLetters.id));
      return rows.map(({ letter, task }) => ({ ...letter, task }));
    },

    find: async (prefix) => {
      const rows = await db
        .select({ letter: deadLetters, task: tasks })
        .from(deadLetters)
        .leftJoin(tasks, eq(tasks.id, deadLetters.taskId))
        .where(sql`starts_with(${deadLetters.id}::text, ${prefix})`)
        .limit(2);
      return rows.map(({ letter, task }) => ({ ...letter, task }));
    },

    attempts: (subtaskId) => readAttempts(db, subtaskId),

    retry: (id) =>
      db.transaction(async (tx) => {
        const [letter] = await tx.select().from(deadLetters).where(eq(deadLetters.id, id)).for('update');
        if (letter === undefined) return 'it is gone';
        if (letter.status !== 'dead') return `it was ${letter.status} already`;
        const refusal = await revive(tx, letter);
        if (refusal === null) await close(tx, id, 'retried');
        return refusal;
      }),

    drop: (id) => close(db, id, 'dropped'),
  };
}

async function close(tx: Executor, id: string, status: 'retried' | 'dropped'): Promise<boolean> {
  const rows = await tx
    .update(deadLetters)
    .set({ status, settledAt: now })
    .where(and(eq(deadLetters.id, id), eq(deadLetters.status, 'dead')))
    .returning({ id: deadLetters.id });
  return rows.length > 0;
}

async function readAttempts(db: Database, subtaskId: string): Promise<LetterAttempt[]> {
  const tries = await db
    .select()
    .from(attempts)
    .where(eq(attempts.subtaskId, subtaskId))
    .orderBy(asc(attempts.number));
  const kept = await db
    .select({ artifact: artifacts })
    .from(artifacts)
    .innerJoin(attempts, eq(attempts.id, artifacts.attemptId))
    .where(eq(attempts.subtaskId, subtaskId))
    .orderBy(asc(artifacts.name));
  return tries.map((attempt) => ({
    ...attempt,
    artifacts: kept.flatMap(({ artifact }) => (artifact.attemptId === attempt.id ? [artifact] : [])),
  }));
}
