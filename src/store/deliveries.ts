import { and, eq, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import type { Deliveries } from './port.ts';
import { deliveries } from './schema.ts';

/** The inbox of webhooks. A `received` row is what admission still owes; see `store/due.ts`. */
export function createDeliveries(db: Database): Deliveries {
  return {
    async store(delivery) {
      const { id, event, action, body } = delivery;
      const inserted = await db
        .insert(deliveries)
        .values({ id, event, action, body })
        .onConflictDoNothing({ target: deliveries.id })
        .returning({ id: deliveries.id });
      return inserted.length === 1 ? 'stored' : 'duplicate';
    },

    async get(id) {
      const [row] = await db.select().from(deliveries).where(eq(deliveries.id, id));
      return row ?? null;
    },

    async begin(id) {
      const [row] = await db
        .update(deliveries)
        .set({ attempts: sql`${deliveries.attempts} + 1` })
        .where(eq(deliveries.id, id))
        .returning({ attempts: deliveries.attempts });
      return row?.attempts ?? 0;
    },

    // Two replicas may admit one delivery at once: what the first settled stays.
    async settle(id, status, reason) {
      await db
        .update(deliveries)
        .set({ status, reason, settledAt: sql`now()` })
        .where(and(eq(deliveries.id, id), eq(deliveries.status, 'received')));
    },
  };
}
