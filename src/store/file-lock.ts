import { open, readFile, rm } from 'node:fs/promises';
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
  for (;;) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(await identityOf(process.pid));
      await file.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await readFile(path, 'utf8').catch(() => '');
    // An empty file is one being written; it is broken only when it stays empty.
    if (holder === '' ? await staysEmpty(path) : !(await isAlive(holder))) await rm(path, { force: true });
    else await delay(20);
  }
}

async function staysEmpty(path: string): Promise<boolean> {
  await delay(1000);
  return (await readFile(path, 'utf8').catch(() => 'gone')) === '';
}

async function isAlive(holder: string): Promise<boolean> {
  const pid = Number(holder.split(' ')[0]);
  return (await isRunning(pid)) && (await identityOf(pid)) === holder;
}
