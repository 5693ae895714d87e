import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type OpenDatabase, openDatabase } from '../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { isRunning } from '../../src/store/processes.ts';
import { databaseUrl } from './app/data-directory.ts';
import { until } from './app/until.ts';

/** A fresh embedded Postgres with the current schema, in a directory of its own. About one second. */
export async function openTestDatabase(): Promise<
  OpenDatabase & { dataDir: string; [Symbol.asyncDispose](): Promise<void> }
> {
  const dataDir = await mkdtemp(join(tmpdir(), 'patchfleet-test-'));
  await chmod(dataDir, 0o755);
  const database = await openDatabase({ url: undefined, dataDir, onError: () => {} });
  const close = async () => {
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...database, close, dataDir, [Symbol.asyncDispose]: close };
}

/** How Postgres is told to stop: `fast` rolls back and closes, `immediate` is a crash with recovery at the start. */
export type PostgresStop = 'fast' | 'immediate';

export interface TestPostgres extends AsyncDisposable {
  /** For `DATABASE_URL`: a Unix socket, the same after a restart. */
  readonly url: string;
  /** One query over a connection of its own, which can only read. Fails while the server is down. */
  query<T extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<T[]>;
  restart(how: PostgresStop): Promise<void>;
  stop(): Promise<void>;
}

/** A Postgres server that is nobody's embedded one, with an empty database, in a directory of its own. */
export async function startPostgres(): Promise<TestPostgres> {
  const dir = await mkdtemp(join(tmpdir(), 'patchfleet-postgres-'));
  await chmod(dir, 0o755);
  const { connection } = await startEmbeddedPostgres(dir);
  const stop = async () => {
    await stopServer(dir, 'fast');
    await rm(dir, { recursive: true, force: true });
  };
  return {
    url: await databaseUrl(dir),
    async query<T extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      const client = new pg.Client({ ...connection, application_name: 'onlooker' });
      // A server that goes down in the middle of a query says so twice: the query fails as well.
      client.on('error', () => {});
      try {
        await client.connect();
        await client.query('set default_transaction_read_only = on');
        return (await client.query<T>(sql, [...values])).rows;
      } finally {
        await client.end().catch(() => {});
      }
    },
    async restart(how) {
      await stopServer(dir, how);
      await startEmbeddedPostgres(dir);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function stopServer(dir: string, how: PostgresStop): Promise<void> {
  const pidFile = join(dir, 'postgres/cluster/postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  process.kill(pid, how === 'fast' ? 'SIGINT' : 'SIGQUIT');
  await until('Postgres has stopped', async () => !(await isRunning(pid)));
}
