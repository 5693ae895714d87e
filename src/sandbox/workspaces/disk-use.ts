import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { below, type Named, openNames } from '../harvest/directory.ts';
import { hostCommand } from '../host-command.ts';

/** What was written below a directory. */
export interface DiskUse {
  /** Space on the disk, bytes; holes of sparse files do not count. */
  readonly bytes: number;
  /** Files, directories and whatever else. */
  readonly entries: number;
}

/** Directories of no more entries, and no deeper, than this are looked at here, without starting a program. */
const fewEntries = 200;
const fewLevels = 16;
const directoryAlone = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const blockBytes = 512;

/**
 * What is below a directory, itself left out, while an agent may be writing there: an estimate. Stops counting
 * soon after `enough`. As another user than root it does not see into directories that it may not read.
 */
export async function diskUse(
  directory: string,
  signal: AbortSignal,
  enough: DiskUse = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY },
): Promise<DiskUse> {
  return (await fewUse(directory, signal)) ?? (await manyUse(directory, signal, enough));
}

/** Null: it is more, or deeper, than is looked at here. */
async function fewUse(directory: string, signal: AbortSignal): Promise<DiskUse | null> {
  const use = { bytes: 0, entries: 0 };
  const seen = new Set<number>();
  /** False: there is more. */
  const visit = async (path: Buffer, depth: number): Promise<boolean> => {
    signal.throwIfAborted();
    const held = await unlessOfTheMoment((place) => open(place, directoryAlone), path);
    if (held === null) return true;
    try {
      // By the directory that is held: one that is swapped for a symlink meanwhile leads nowhere.
      const here = Buffer.from(`/proc/self/fd/${held.fd}`);
      const names: Named[] = [];
      for await (const named of await openNames(here)) {
        names.push(named);
        if (use.entries + names.length > fewEntries) return false;
      }
      use.entries += names.length;
      for (const { name } of names) {
        const stats = await unlessOfTheMoment((place) => lstat(place), below(here, name));
        if (stats === null) continue;
        const isDirectory = stats.isDirectory();
        if (!isDirectory && stats.nlink > 1) {
          if (seen.has(stats.ino)) continue;
          seen.add(stats.ino);
        }
        use.bytes += stats.blocks * blockBytes;
        if (!isDirectory) continue;
        if (depth === fewLevels || !(await visit(below(here, name), depth + 1))) return false;
      }
      return true;
    } finally {
      await held.close();
    }
  };
  return (await visit(Buffer.from(directory), 0)) ? use : null;
}

/** Null for what an agent that works meanwhile, or has locked a directory, may cause. */
async function unlessOfTheMoment<T>(look: (place: Buffer) => Promise<T>, place: Buffer): Promise<T | null> {
  try {
    return await look(place);
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(code)) return null;
    throw thrown;
  }
}

/** By `find`, which walks by directory handles and is some twenty times as fast as asking from here. */
async function manyUse(directory: string, signal: AbortSignal, enough: DiskUse): Promise<DiskUse> {
  const { stdin: _, extendEnv: __, ...options } = hostCommand;
  const child = spawn('find', [directory, '-mindepth', '1', '-printf', '%y %n %i %b\\n'], {
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  ended.catch(() => {});
  const use = { bytes: 0, entries: 0 };
  const seen = new Set<string>();
  let rest = '';
  child.stdout.setEncoding('latin1');
  for await (const chunk of child.stdout) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [type, links, inode = '', blocks] = line.split(' ');
      use.entries += 1;
      if (type !== 'd' && links !== '1') {
        if (seen.has(inode)) continue;
        seen.add(inode);
      }
      use.bytes += Number(blocks) * blockBytes;
    }
    if (use.bytes > enough.bytes || use.entries > enough.entries) child.kill('SIGKILL');
  }
  await ended;
  signal.throwIfAborted();
  return use;
}
