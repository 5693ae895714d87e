import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf, isRunning } from './processes.ts';

/**
 * Runs `work` while holding a lock file, between processes of one machine. The file names its holder; the
 * lock of a dead process is broken. For short work only: waiting polls.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await acquire(path);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  // Written aside: a lock file is never seen without its holder's name.
  const own = `${path}.${randomUUID()}`;
  await writeFile(own, await identityOf(process.pid), { flag: 'wx' });
  try {
    while (!(await placed(own, path))) {
      const holder = await nameIn(path);
      if (holder === null) continue;
      if (await isAlive(holder)) await delay(20);
      else await breakLock(path, holder);
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function placed(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Of several that find the lock of a dead process, the slower must not remove what a faster one put in its place:
 * they break it one after the other, and each looks again. Whoever dies meanwhile leaves a lock of the same kind.
 */
async function breakLock(path: string, holder: string): Promise<void> {
  await withFileLock(`${path}.breaking`, async () => {
    if ((await nameIn(path)) === holder) await rm(path, { force: true });
  });
}

async function nameIn(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

async function isAlive(holder: string): Promise<boolean> {
  const pid = Number(holder.split(' ')[0]);
  return pid > 0 && (await isRunning(pid)) && (await identityOf(pid)) === holder;
}
