import { randomUUID } from 'node:crypto';
import type { Executor } from './database.ts';
import { deadLetters } from './schema.ts';

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
