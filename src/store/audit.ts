import { randomUUID } from 'node:crypto';
import type { Database } from './database.ts';
import type { Audit } from './port/audit.ts';
import { audit } from './schema.ts';

/** Appends to the record of who asked for what and what was decided. Rows are never changed. */
export function createAudit(db: Database): Audit {
  return {
    async record(entry) {
      const { actor, action, subject, detail = {} } = entry;
      await db.insert(audit).values({ id: randomUUID(), actor, action, subject, detail });
    },
  };
}
