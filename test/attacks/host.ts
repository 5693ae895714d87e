import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What is looked at on the host, from outside of any sandbox. */

const mib = 1024 * 1024;
/** What the host must have left, whatever was tried: a few times what one sandbox may take. */
const needed = { diskBytes: 1024 * mib, memoryBytes: 512 * mib };
/** Far above what the sandboxes of a stage may have together, far below where a machine breaks down. */
const tooManyProcesses = 10_000;

/** What the host suffered, or null. */
export async function hostProblem(dir: string): Promise<string | null> {
  const disk = statfsSync(dir);
  if (disk.bavail * disk.bsize < needed.diskBytes) return 'the disk of the host is full';
  if (disk.files > 0 && disk.ffree < 10_000) return 'the host has no inodes left';
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'));
  if (Number(available?.[1] ?? 0) * 1024 < needed.memoryBytes) return 'the memory of the host is used up';
  if (readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length > tooManyProcesses)
    return 'the host is full of processes';
  try {
    await promisify(execFile)('true');
  } catch (thrown) {
    return `the host can start no program: ${String(thrown)}`;
  }
  return null;
}

/** Processes of a container, as the host counts them. */
export function processesOf(containerId: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cgroup`, 'utf8').includes(containerId);
    } catch {
      return false;
    }
  }).length;
}

/** A digest of all names, types, modes and contents below a directory. */
export function fingerprint(dir: string): string {
  const hash = createHash('sha256');
  const walk = (place: string) => {
    const stat = lstatSync(place);
    hash.update(`${place}\0${stat.mode}\0${stat.uid}\0`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(place));
    else if (stat.isFile()) hash.update(readFileSync(place));
    else if (stat.isDirectory()) for (const name of readdirSync(place).sort()) walk(join(place, name));
  };
  walk(dir);
  return hash.digest('hex');
}

/** Files below a directory that any user of the host may read, by the modes of all that leads there. */
export function readableByOthers(dir: string): string[] {
  const stat = lstatSync(dir);
  if (stat.isFile()) return (stat.mode & 0o004) === 0 ? [] : [dir];
  if (!stat.isDirectory() || (stat.mode & 0o001) === 0) return [];
  return readdirSync(dir).flatMap((name) => readableByOthers(join(dir, name)));
}
