import { readFile } from 'node:fs/promises';

/** Other processes of this machine. Where there is no /proc, liveness alone is known. */

/** Fields of /proc/<pid>/stat after the command's name: state first; null where it cannot be read. */
async function statFields(pid: number): Promise<string[] | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Whether the process runs; one that ended and was not yet reaped by its parent does not. */
export async function isRunning(pid: number): Promise<boolean> {
  // Read first: one that is reaped meanwhile is not there for the signal either.
  const state = (await statFields(pid))?.[0];
  if (state !== undefined) return state !== 'Z' && state !== 'X';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Process id and start time: a reused id is another process. */
export async function identityOf(pid: number): Promise<string> {
  return `${pid} ${(await statFields(pid))?.[19] ?? '0'}`;
}
