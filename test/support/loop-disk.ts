import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { until } from './app/until.ts';

/** A file system of its own, on a loop device over a file: it can be filled without filling the machine's. */
export interface LoopDisk {
  /** Where it is mounted. */
  readonly dir: string;
  /** Unmounts it and removes its file; its loop device goes with it. Safe to call twice. */
  end(): Promise<void>;
}

/** An ext4 of `mib` MiB, mounted at `home/name`, its file beside it. Nothing of it is kept for root. Needs root. */
export async function mountLoopDisk(home: string, name: string, mib: number): Promise<LoopDisk> {
  const dir = join(home, name);
  const image = `${dir}.img`;
  await mkdir(dir, { recursive: true });
  await writeFile(image, '');
  await truncate(image, mib * 1024 * 1024);
  const end = async () => {
    await unmountBelow(dir);
    await rm(image, { force: true });
    // Removed lazily, the device may be held until what used it last has ended.
    await until('the loop device is free', async () => !(await loopDevices()).includes(image));
  };
  try {
    await execa('mkfs.ext4', ['-q', '-F', '-m', '0', '-E', 'lazy_itable_init=0,nodiscard', image]);
    await execa('mount', ['-o', 'loop,noatime', image, dir]);
  } catch (error) {
    await end();
    throw error;
  }
  return { dir, end };
}

/** Mounts at `dir` and below it are taken away, the deepest first. */
export async function unmountBelow(dir: string): Promise<void> {
  for (const path of (await mountsBelow(dir)).toReversed())
    await execa('umount', ['--lazy', path], { reject: false });
}

/** Mount points at `dir` and below, in the order they were made. */
export async function mountsBelow(dir: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path === dir || path.startsWith(`${dir}/`));
}

/** Files that loop devices lie over. */
async function loopDevices(): Promise<string[]> {
  const { stdout } = await execa('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE']);
  return stdout.split('\n').map((line) => line.trim().replace(/ \(deleted\)$/, ''));
}
