import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { withHeldLock } from './bases/held-lock.ts';
import { hostCommand } from './host-command.ts';

/**
 * Who opens sandboxes without being a worker, and so without a sign of life in the rows (the doctor): it is about for as
 * long as it holds the lock of a file of its name, which the kernel frees with its death, however it dies.
 */

/** Of the directory of their files, in the data directory. */
export const visitorsName = 'visitors';

/** Runs `work` as a visitor of that name. `dir`, one for each data directory, is made if missing. */
export async function visit<T>(dir: string, work: (name: string) => Promise<T>): Promise<T> {
  const name = `visitor-${randomBytes(8).toString('hex')}`;
  const file = join(dir, name);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    return await withHeldLock(file, new AbortController().signal, () => work(name));
  } finally {
    await rm(file, { force: true });
  }
}

/** The names of those that are about; what the dead left of theirs is removed. */
export async function visitors(dir: string): Promise<ReadonlySet<string>> {
  const about = new Set<string>();
  for (const name of await namesIn(dir)) {
    const file = join(dir, name);
    const { exitCode } = await execa('flock', ['--nonblock', file, 'true'], {
      ...hostCommand,
      reject: false,
    });
    // One that has not taken its lock yet has no sandbox either.
    if (exitCode === 0) await rm(file, { force: true });
    else about.add(name);
  }
  return about;
}

async function namesIn(dir: string): Promise<string[]> {
  return await readdir(dir).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw thrown;
  });
}
