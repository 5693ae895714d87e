import { eq } from 'drizzle-orm';
import type { Database } from './database.ts';
import type { Verifications } from './port.ts';
import { verifications } from './schema.ts';

/** Reports of verified trees. A tree is verified once: what is kept is never replaced. */
export function createVerifications(db: Database): Verifications {
  return {
    get: async (key) =>
      (await db.select().from(verifications).where(eq(verifications.key, key)))[0]?.report ?? null,
    put: async (key, report) => {
      await db.insert(verifications).values({ key, report }).onConflictDoNothing();
    },
  };
}
