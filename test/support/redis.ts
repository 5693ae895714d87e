import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from './app/until.ts';

export interface TestRedis extends AsyncDisposable {
  /** For `REDIS_URL` and ioredis: the path of a Unix socket. */
  readonly url: string;
  /** Removes every key. */
  flush(): Promise<void>;
  /** Kills the server, which has written nothing down, and starts an empty one in its place. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A redis-server of the test's own, on a Unix socket in a directory of its own. */
export async function startRedis(): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'patchfleet-redis-'));
  const url = join(dir, 'socket');
  let server = await launch(dir, url);
  const stop = async () => {
    await end(server, 'SIGTERM');
    await rm(dir, { recursive: true, force: true });
  };
  return {
    url,
    async flush() {
      const client = new Redis(url);
      try {
        await client.flushall();
      } finally {
        client.disconnect();
      }
    },
    async restart() {
      await end(server, 'SIGKILL');
      server = await launch(dir, url);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function launch(dir: string, url: string): Promise<ChildProcess> {
  // A killed server leaves its socket, which would pass for one that answers.
  await rm(url, { force: true });
  const args = ['--port', '0', '--unixsocket', url, '--dir', dir, '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', [...args, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const failed = once(server, 'error').then(([error]) => {
    throw error;
  });
  await Promise.race([untilAnswers(url), failed]);
  return server;
}

async function end(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

async function untilAnswers(path: string): Promise<void> {
  await until(
    `redis-server answers on ${path}`,
    () =>
      new Promise<boolean>((resolve) => {
        const socket = createConnection(path, () => resolve(true)).on('error', () => resolve(false));
        socket.once('connect', () => socket.end());
      }),
    { everyMs: 10 },
  );
}
