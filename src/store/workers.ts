import { and, eq, gt, lt, sql } from 'drizzle-orm';
import { ago, now } from './clock.ts';
import type { Database } from './database.ts';
import type { Workers } from './port/workers.ts';
import { attempts, workers } from './schema.ts';

/** The processes that run attempts, and what they ask at every look around. */
export function createWorkers(db: Database): Workers {
  return {
    look: async (worker, { capacity, claims, waitingMs }) => {
      const ids = sql.param(claims.map(({ attemptId }) => attemptId));
      const epochs = sql.param(claims.map(({ epoch }) => epoch));
      const { rows } = await db.execute<{ gone: string[]; waiting: boolean }>(sql`
        with seen as (
          insert into ${workers} (name, capacity, seen_at) values (${worker}, ${capacity}, ${now})
          on conflict (name) do update set seen_at = excluded.seen_at)
        select
          array(select held.id::text from unnest(${ids}::uuid[], ${epochs}::int[]) as held(id, epoch)
                 where not exists (
                   select 1 from ${attempts} a
                    where a.id = held.id and a.epoch = held.epoch and a.status = 'running')) as gone,
          exists (select 1 from ${attempts} a
                   where a.status = 'queued' and a.queued_at < ${ago(waitingMs)}) as waiting`);
      return { gone: rows[0]?.gone ?? [], waiting: rows[0]?.waiting ?? false };
    },

    isAlive: async (worker, leaseMs) => {
      const alive = and(eq(workers.name, worker), gt(workers.seenAt, ago(leaseMs)));
      return (await db.select({ name: workers.name }).from(workers).where(alive)).length > 0;
    },

    leave: async (worker) => {
      await db.delete(workers).where(eq(workers.name, worker));
    },

    forget: async (silentMs) => {
      await db.delete(workers).where(lt(workers.seenAt, ago(silentMs)));
    },
  };
}
