import { and, eq, gt, lte } from 'drizzle-orm';
import { ago, now } from './clock.ts';
import type { Database } from './database.ts';
import type { SetupFailures } from './port/failed-setups.ts';
import { failedSetups } from './schema.ts';

/** How long the same setup is not tried again: long enough for all attempts of a task to get the same answer. */
const freshForMs = 10 * 60_000;

/** Setups that failed, by the key of what they would have prepared. */
export function createFailedSetups(db: Database): SetupFailures {
  return {
    async fresh(key) {
      const isFresh = gt(failedSetups.createdAt, ago(freshForMs));
      const [row] = await db
        .select()
        .from(failedSetups)
        .where(and(eq(failedSetups.key, key), isFresh));
      return row?.failure ?? null;
    },
    async put(key, repositoryId, failure) {
      // What nobody reads any more goes with whatever comes next.
      await db.delete(failedSetups).where(lte(failedSetups.createdAt, ago(freshForMs)));
      const row = { key, repositoryId, failure };
      await db
        .insert(failedSetups)
        .values(row)
        .onConflictDoUpdate({ target: failedSetups.key, set: { failure, createdAt: now } });
    },
  };
}
