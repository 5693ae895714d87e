import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Docker from 'dockerode';
import pg from 'pg';
import { labels } from '../../../src/sandbox/container/container-spec.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { unmountBelow } from '../../../src/sandbox/workspaces/overlay-mount.ts';
import { startEmbeddedPostgres } from '../../../src/store/embedded-postgres.ts';
import { until } from './until.ts';

/** What an app keeps outside its process, found by its data directory. */

/** One query on its embedded Postgres, over a connection of its own. */
export async function queryRows<T extends pg.QueryResultRow>(
  dataDir: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const client = await connectTo(dataDir);
  try {
    return (await client.query<T>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A connection that can only read. End it before the app stops: the last one to leave stops the server. */
export async function connectTo(dataDir: string): Promise<pg.Client> {
  const { connection } = await startEmbeddedPostgres(dataDir);
  const client = new pg.Client({ ...connection, application_name: 'onlooker' });
  await client.connect();
  await client.query('set default_transaction_read_only = on');
  return client;
}

/** For `DATABASE_URL`. */
export async function databaseUrl(dataDir: string): Promise<string> {
  const { host, port, user, database } = (await startEmbeddedPostgres(dataDir)).connection;
  return `postgres://${user}@/${database}?host=${encodeURIComponent(String(host))}&port=${port}`;
}

/** Stops its embedded Postgres where a killed app left it running. */
async function stopPostgres(dataDir: string): Promise<void> {
  const runs = async () => {
    const pidFile = await stat(join(dataDir, 'postgres/cluster/postmaster.pid')).catch(() => null);
    return pidFile !== null;
  };
  // Connections of an app that was killed, or of who looked on, are seen for a moment longer, and keep it running.
  await until(`nobody needs the Postgres of ${dataDir}`, async () => {
    if (!(await runs())) return true;
    await (await startEmbeddedPostgres(dataDir)).release();
    return !(await runs());
  });
}

/** Containers of the data directory's instance that the engine has, whatever their state. */
export async function sandboxesOf(dataDir: string): Promise<Docker.ContainerInfo[]> {
  const instance = await readFile(join(dataDir, 'instance'), 'utf8').catch(() => null);
  if (instance === null) return [];
  const label = `${labels.instance}=${instance.trim()}`;
  return new Docker().listContainers({ all: true, filters: { label: [label] } });
}

/** Removes all that the instance left: containers, the database server, the directory. Safe to call twice. */
export async function removeDataDirectory(dataDir: string): Promise<void> {
  const docker = new Docker();
  for (const { Id } of await sandboxesOf(dataDir)) {
    await docker
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch((error: { statusCode?: number }) => {
        if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
      });
  }
  // One that somebody else removes holds its workspace until it is gone.
  await until('its containers are gone', async () => (await sandboxesOf(dataDir)).length === 0);
  await stopPostgres(dataDir);
  await unmountBelow(dataDir);
  await removeTree(dataDir);
}
