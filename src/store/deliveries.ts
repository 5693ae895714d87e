import { and, eq, sql } from 'drizzle-orm';
import { now } from './clock.ts';
import type { Database } from './database.ts';
import { bury } from './dead-letters.ts';
import type { Deliveries } from './port/deliveries.ts';
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

    giveUp: (id, failure) =>
      db.transaction(async (tx) => {
        const reason = `${failure.code}: ${failure.detail}`.slice(0, 2000).toWellFormed();
        const [row] = await tx
          .update(deliveries)
          .set({ status: 'failed', reason, settledAt: now })
          .where(and(eq(deliveries.id, id), eq(deliveries.status, 'received')))
          .returning();
        if (row === undefined) return;
        const { event, action, attempts: tries, receivedAt, body } = row;
        const detail = { event, action, tries, receivedAt, bytes: Buffer.byteLength(body) };
        await bury(tx, { kind: 'delivery', ref: id, taskId: null, failure, detail });
      }),

    // Two replicas may admit one delivery at once: what the first settled stays.
    async settle(id, status, reason) {
      await db
        .update(deliveries)
        .set({ status, reason, settledAt: now })
        .where(and(eq(deliveries.id, id), eq(deliveries.status, 'received')));
    },
  };
}
