import { createHash } from 'node:crypto';
import type pg from 'pg';

/** Named locks over all replicas: session advisory locks of Postgres, freed when their process dies. */

/** 63 bits of the name's SHA-256, as Postgres wants a bigint key. */
function keyOf(name: string): string {
  const digest = createHash('sha256').update(name).digest();
  return (digest.readBigUInt64BE(0) >> 1n).toString();
}

/** `wait` false: null at once when somebody else holds the lock. One connection is held meanwhile. */
export async function underLock<T>(
  pool: pg.Pool,
  name: string,
  wait: boolean,
  work: () => Promise<T>,
): Promise<T | null> {
  const key = keyOf(name);
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    if (wait) await client.query('select pg_advisory_lock($1)', [key]);
    else {
      const { rows } = await client.query<{ ok: boolean }>('select pg_try_advisory_lock($1) as ok', [key]);
      if (rows[0]?.ok !== true) return null;
    }
    try {
      return await work();
    } finally {
      await client.query('select pg_advisory_unlock($1)', [key]).catch(onError);
    }
  } finally {
    client.off('error', onError);
    // A broken connection is thrown away; its lock went with it.
    client.release(broken);
  }
}
