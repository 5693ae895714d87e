import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import * as schema from './schema.ts';

export type Database = NodePgDatabase<typeof schema>;
/** A database or a transaction on it. */
export type Executor = Pick<
  Database,
  'select' | 'selectDistinctOn' | 'insert' | 'update' | 'delete' | 'execute'
>;

export interface OpenDatabase {
  readonly db: Database;
  readonly pool: pg.Pool;
  /** A further pool, for work that must not take connections from the rows. Its owner ends it. */
  newPool(options: { max: number; searchPath?: string }): pg.Pool;
  close(): Promise<void>;
}

const migrationsFolder = join(dirname(fileURLToPath(import.meta.url)), 'migrations');
/** Any constant does, as long as nobody else uses it: "patchflt" in ASCII, as a 64-bit number. */
const migrationLock = '8097873591115443316';

/**
 * Opens the given Postgres, or the embedded one under `dataDir`, and brings its schema up to date.
 * Replicas may start at once: one migrates, the others wait.
 */
export async function openDatabase(options: {
  url: string | undefined;
  dataDir: string;
  onError: (error: Error) => void;
}): Promise<OpenDatabase> {
  const embedded =
    options.url === undefined ? await startEmbeddedPostgres(options.dataDir, { stay: true }) : null;
  const connection: pg.PoolConfig = {
    ...(embedded?.connection ?? { connectionString: options.url, application_name: 'patchfleet' }),
    keepAlive: true,
  };
  const pool = guarded(new pg.Pool({ ...connection, max: 12 }));
  // An idle connection that breaks (the server restarts) must not end the process.
  pool.on('error', options.onError);
  const close = async () => {
    await pool.end();
    await embedded?.release();
  };
  try {
    await migrateOnce(pool);
  } catch (error) {
    await close();
    throw error;
  }
  const newPool = (options: { max: number; searchPath?: string }) =>
    guarded(
      new pg.Pool({
        ...connection,
        max: options.max,
        ...(options.searchPath === undefined ? {} : { options: `-c search_path=${options.searchPath}` }),
      }),
    );
  return { db: drizzle(pool, { schema }), pool, newPool, close };
}

/**
 * Nor must one that breaks while it is lent out, as between two statements of a transaction: the pool listens to
 * idle ones alone. Whoever holds it learns of it by his next statement.
 */
function guarded(pool: pg.Pool): pg.Pool {
  return pool.on('connect', (client) => client.on('error', () => {}));
}

async function migrateOnce(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`select pg_advisory_lock(${migrationLock})`);
    await migrate(drizzle(client), { migrationsFolder });
  } finally {
    await client.query(`select pg_advisory_unlock(${migrationLock})`).catch(() => {});
    client.release();
  }
}
