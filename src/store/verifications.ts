import { and, desc, eq, isNotNull } from 'drizzle-orm';
import type { Database } from './database.ts';
import type { Verifications } from './port/verifications.ts';
import { verifications } from './schema.ts';

/** Verifications that the memory of the next one is taken from: the newest. */
const recent = 10;

/** Reports of verified trees. A tree is verified once: what is kept is never replaced. */
export function createVerifications(db: Database): Verifications {
  return {
    get: async (key) =>
      (await db.select().from(verifications).where(eq(verifications.key, key)))[0]?.report ?? null,
    put: async (key, report, repositoryId) => {
      const peakMib = report.peakMib ?? null;
      await db.insert(verifications).values({ key, report, repositoryId, peakMib }).onConflictDoNothing();
    },
    peaks: async (repositoryId) => {
      const rows = await db
        .select({ peakMib: verifications.peakMib })
        .from(verifications)
        .where(and(eq(verifications.repositoryId, repositoryId), isNotNull(verifications.peakMib)))
        .orderBy(desc(verifications.createdAt))
        .limit(recent);
      return rows.flatMap(({ peakMib }) => peakMib ?? []);
    },
  };
}
