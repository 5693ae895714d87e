import { and, desc, eq, lt } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Database } from './database.ts';
import type { ResultIndex } from './port/result-index.ts';
import { resultIndex } from './schema.ts';

/** Members of a family that are looked at, newest first. */
const maxFamily = 50;

/** Verified patches by what they were made from. The newest of a key stands. */
export function createResultIndex(db: Database): ResultIndex {
  return {
    get: async (key) => (await db.select().from(resultIndex).where(eq(resultIndex.key, key)))[0] ?? null,
    family: (family, before) =>
      db
        .select()
        .from(resultIndex)
        .where(and(eq(resultIndex.family, family), lt(resultIndex.createdAt, before)))
        .orderBy(desc(resultIndex.createdAt))
        .limit(maxFamily),
    put: async (result) => {
      const { key, ...rest } = result;
      await db
        .insert(resultIndex)
        .values(result)
        .onConflictDoUpdate({ target: resultIndex.key, set: { ...rest, createdAt: now } });
    },
  };
}
