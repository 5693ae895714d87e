import { spawn } from 'node:child_process';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostCommand } from './host-command.ts';

/** What was written below a directory. */
export interface DiskUse {
  /** Space on the disk, bytes; holes of sparse files do not count. */
  readonly bytes: number;
  /** Files, directories and whatever else. */
  readonly entries: number;
}

/** Directories of no more entries than this are looked at here, without starting a program. */
const fewEntries = 200;
const blockBytes = 512;

/**
 * What is below a directory, itself left out, while an agent may be writing there: an estimate. Counts on to no more
 * than `enough`. As another user than root it does not see into directories that it may not read.
 */
export async function diskUse(
  directory: string,
  signal: AbortSignal,
  enough: DiskUse = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY },
): Promise<DiskUse> {
  return (await fewUse(directory, signal)) ?? (await manyUse(directory, signal, enough));
}

async function fewUse(directory: string, signal: AbortSignal): Promise<DiskUse | null> {
  const use = { bytes: 0, entries: 0 };
  const seen = new Set<number>();
  const open = [directory];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    signal.throwIfAborted();
    try {
      for await (const entry of await opendir(path)) {
        use.entries += 1;
        if (use.entries > fewEntries) return null;
        const place = join(path, entry.name);
        if (entry.isDirectory()) open.push(place);
        const { ino, nlink, blocks } = await lstat(place);
        if (!entry.isDirectory() && nlink > 1 && seen.has(ino)) continue;
        seen.add(ino);
        use.bytes += blocks * blockBytes;
      }
    } catch (thrown) {
      if (isOfTheMoment(thrown)) continue;
      throw thrown;
    }
  }
  return use;
}

/** What an agent that works meanwhile, or has locked a directory, may cause; names that are no text among them. */
function isOfTheMoment(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'ENAMETOOLONG';
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
