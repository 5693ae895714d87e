import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface TestRedis extends AsyncDisposable {
  /** For `REDIS_URL` and ioredis: the path of a Unix socket. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A redis-server of the test's own, on a Unix socket in a directory of its own. */
export async function startRedis(): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'patchfleet-redis-'));
  const url = join(dir, 'socket');
  const args = ['--port', '0', '--unixsocket', url, '--dir', dir, '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', [...args, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const failed = once(server, 'error').then(([error]) => {
    throw error;
  });
  await Promise.race([untilAnswers(url), failed]);
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
    }
    await rm(dir, { recursive: true, force: true });
  };
  return { url, stop, [Symbol.asyncDispose]: stop };
}

async function untilAnswers(path: string): Promise<void> {
  for (const limit = Date.now() + 10_000; Date.now() < limit; await delay(10)) {
    const answered = await new Promise<boolean>((resolve) => {
      const socket = createConnection(path, () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.end());
    });
    if (answered) return;
  }
  throw new Error(`redis-server did not answer on ${path} within 10 s`);
}
