import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chown, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import pg from 'pg';
import { postgresRoot, reachableByAnyone } from './binaries.ts';
import { withFileLock } from './file-lock.ts';
import { isRunning } from './processes.ts';

/**
 * A real Postgres under the data directory, reached by a Unix socket that only its owner and root can open.
 * Several processes share it: the first starts it, the last one to leave stops it. A process that was
 * killed leaves it running; whoever comes next finds it.
 */
export interface EmbeddedPostgres {
  readonly connection: pg.ClientConfig;
  /** Stops the server unless other clients are connected. Close your own connections first. */
  release(): Promise<void>;
}

const user = 'patchfleet';
const database = 'patchfleet';
const startLimitMs = 60_000;
/** How long the server may take to notice connections that were closed. */
const leaveLimitMs = 5000;
/** Before a server that ended at once is started again, ms. */
const againMs = 200;
/** Name of the connection by which somebody who leaves looks around. */
const leaving = 'patchfleet leaving';
/** sun_path of a Unix socket holds 108 bytes; `/.s.PGSQL.5432` and the final NUL want 15 of them. */
const longestSocketDir = 92;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Postgres refuses to run as root: then it runs as `postgres` where that user exists, else as `nobody`. */
async function unprivilegedOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const entry = entries.find(([name]) => name === 'postgres') ?? entries.find(([name]) => name === 'nobody');
  if (entry === undefined)
    throw new Error('Postgres cannot run as root and /etc/passwd has no user `nobody`');
  return { uid: Number(entry[2]), gid: Number(entry[3]) };
}

/**
 * Starts the server of `dataDir`, or finds the one that runs. `stay`: keeps one connection until `release`, by which
 * others know that somebody is here, even between starting and the first query, or while a pool is idle.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  { stay = false }: { readonly stay?: boolean } = {},
): Promise<EmbeddedPostgres> {
  const home = resolve(dataDir, 'postgres');
  const owner = await unprivilegedOwner();
  await mkdir(home, { recursive: true });
  if (owner !== null) {
    await chown(home, owner.uid, owner.gid);
    if (!(await reachableByAnyone(resolve(dataDir))))
      throw new Error(
        `PATCHFLEET_DATA: ${resolve(dataDir)} cannot be reached by the user Postgres runs as (it never runs as root): choose a directory whose parents have the x permission for others, e.g. /var/lib/patchfleet`,
      );
  }
  const clusterDir = join(home, 'cluster');
  const socketDir = await makeSocketDir(home, owner);
  // The name tells this member's connections from those of others.
  const application_name = `patchfleet ${randomUUID().slice(0, 13)}`;
  const connection: pg.ClientConfig = { host: socketDir, port: 5432, user, database, application_name };
  const lock = join(home, 'lock');

  const presence = await withFileLock(lock, async () => {
    if (!(await answers(connection))) {
      const root = await postgresRoot(owner !== null, home);
      await initialise(root, clusterDir, owner);
      const logFile = join(home, 'log');
      await untilAnswers(connection, logFile, () => launch(root, clusterDir, socketDir, logFile, owner));
    }
    return stay ? await bePresent(connection) : null;
  });

  return {
    connection,
    release: () =>
      withFileLock(lock, async () => {
        await presence?.end().catch(() => {});
        if (!(await isLast(connection))) return;
        await stop(clusterDir);
        if (!socketDir.startsWith(home)) await rm(socketDir, { recursive: true, force: true });
      }),
  };
}

async function makeSocketDir(home: string, owner: Owner | null): Promise<string> {
  const inside = join(home, 'socket');
  const short = join(tmpdir(), `patchfleet-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`);
  const dir = Buffer.byteLength(inside) <= longestSocketDir ? inside : short;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (owner !== null) await chown(dir, owner.uid, owner.gid);
  const info = await stat(dir);
  if (info.uid !== (owner?.uid ?? process.getuid?.()))
    throw new Error(`${dir} belongs to somebody else: remove it or choose another PATCHFLEET_DATA`);
  return dir;
}

async function initialise(root: string, clusterDir: string, owner: Owner | null): Promise<void> {
  const made = await stat(join(clusterDir, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
  if (made) return;
  // Made aside and renamed, so that a kill in the middle leaves nothing half-made.
  const making = `${clusterDir}.making`;
  await rm(making, { recursive: true, force: true });
  const flags = ['--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync', `--username=${user}`];
  await execa(join(root, 'bin', 'initdb'), [...flags, '-D', making], {
    cwd: '/',
    env: { LC_ALL: 'C', PATH: process.env['PATH'] ?? '' },
    extendEnv: false,
    ...(owner ?? {}),
  });
  await rename(making, clusterDir);
}

async function launch(
  root: string,
  clusterDir: string,
  socketDir: string,
  logFile: string,
  owner: Owner | null,
): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    max_connections: '200',
    shared_buffers: '64MB',
    log_min_messages: 'warning',
  };
  const log = await open(logFile, 'a');
  try {
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(root, 'bin', 'postgres'), ['-D', clusterDir, ...args], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { LC_ALL: 'C' },
      ...(owner ?? {}),
    });
    await new Promise<void>((done, failed) => child.once('spawn', done).once('error', failed));
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

/** Whether the server accepts connections; makes the database when it is new. */
async function answers(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${database}`);
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Starts the server and waits for it. One that ends at once is started again: a server that was killed leaves processes
 * that hold its memory for a moment, and a new one does not begin beside them.
 */
async function untilAnswers(
  connection: pg.ClientConfig,
  logFile: string,
  start: () => Promise<ChildProcess>,
): Promise<void> {
  let server = await start();
  for (const limit = Date.now() + startLimitMs; Date.now() < limit; await delay(20)) {
    if (await answers(connection)) return;
    if (server.exitCode === null && server.signalCode === null) continue;
    await delay(againMs);
    server = await start();
  }
  const tail = (await readFile(logFile, 'utf8').catch(() => '')).slice(-2000);
  throw new Error(
    `the embedded Postgres did not answer within ${startLimitMs / 1000} s; its log ends:\n${tail}`,
  );
}

/** A connection that says to others that somebody is here. */
async function bePresent(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, keepAlive: true });
  // It breaks when the server is ended from outside: whoever works with the server finds out by its own.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/**
 * Whether nobody else is connected, a stranger's `psql` included. False where the server cannot be asked: it is down,
 * and its pid file may by now name a process that has nothing to do with it. Connections that were closed are seen
 * for a moment longer: one's own do not count, and are waited for, so that they do not count for whoever leaves next.
 */
async function isLast(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...connection, application_name: leaving });
  try {
    await client.connect();
    for (const limit = Date.now() + leaveLimitMs; ; await delay(20)) {
      const { rows } = await client.query<{ own: number; others: number }>(
        `select count(*) filter (where application_name = $1)::int as own,
                count(*) filter (where application_name not in ($1, $2))::int as others
           from pg_stat_activity where backend_type = 'client backend'`,
        [connection.application_name, leaving],
      );
      const { own = 0, others = 0 } = rows[0] ?? {};
      if (others === 0) return true;
      if (own === 0 || Date.now() > limit) return false;
    }
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function stop(clusterDir: string): Promise<void> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  process.kill(pid, 'SIGINT'); // fast shutdown
  for (const limit = Date.now() + startLimitMs; Date.now() < limit; await delay(20)) {
    if (!(await isRunning(pid))) return;
  }
  throw new Error(`the embedded Postgres (process ${pid}) did not stop within ${startLimitMs / 1000} s`);
}
