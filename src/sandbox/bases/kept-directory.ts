import { randomBytes } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { hostCommand } from '../host-command.ts';
import { removeTree } from '../remove-tree.ts';

/**
 * Directories that are made once and shared by many workspaces, as the layers below them:
 *
 *     <home>/<name>/tree        what is shared
 *     <home>/<name>/kept.json   what it was when it was made
 *     <home>/<name>/used        its time is when it was used last
 *
 * Made in a directory beside it and renamed into place when whole and on the disk.
 */

const keptSchema = z.object({
  /** Of the layout of `tree`; another is made anew. */
  format: z.literal(2),
  digest: z.string(),
  /** On the disk. */
  bytes: z.number(),
});
export type Kept = z.infer<typeof keptSchema>;

/** What begins the names of directories that are not whole, or are on their way out. */
export const asidePrefix = '.tmp-';
/** One of those that is older than this belongs to a worker that died, ms. */
const abandonedMs = 24 * 60 * 60 * 1000;

export const treeOf = (place: string) => join(place, 'tree');

/** A name beside `place` for what is not in place. */
export function asideOf(place: string, home = dirname(place)): string {
  return join(home, `${asidePrefix}${basename(place).slice(-12)}-${randomBytes(6).toString('hex')}`);
}

/**
 * SHA-256 over everything below a directory: path, type, owner, permissions, size, times of its last change, target of
 * a link. Contents are not read: whoever writes to a file leaves a time of change (`ctime`) that cannot be set, and
 * what was cut short by a crash has another size. So it costs one `lstat` per entry. Bits that rot below the
 * file system are not seen.
 */
export async function digestOf(directory: string, signal: AbortSignal): Promise<string> {
  const options = { ...hostCommand, cwd: directory, cancelSignal: signal } as const;
  const { stdout } = await execa('find', ['.', '-printf', '%P\\t%y %U:%G %m %s %T@ %C@ %l\\0'], options)
    .pipe('sort', ['--zero-terminated'], options)
    .pipe('sha256sum', [], options);
  const [digest = ''] = stdout.split(' ');
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error(`sha256sum answered: ${stdout.slice(0, 200)}`);
  return digest;
}

/**
 * Brings `temporary`, whose `tree` is complete, to `place`: what it is is noted, and everything is on the disk before
 * it has its name. Where another process was faster its directory stays, and this one is removed.
 */
export async function putInPlace(temporary: string, place: string, signal: AbortSignal): Promise<void> {
  const options = { ...hostCommand, cancelSignal: signal } as const;
  const { stdout } = await execa('du', ['-s', '--block-size=1', '--', temporary], options);
  const kept: Kept = {
    format: 2,
    digest: await digestOf(treeOf(temporary), signal),
    bytes: Number(stdout.split('\t')[0]),
  };
  await writeFile(join(temporary, 'kept.json'), `${JSON.stringify(kept)}\n`);
  await writeFile(join(temporary, 'used'), '');
  await execa('sync', ['--file-system', '--', temporary], options);
  try {
    await rename(temporary, place);
  } catch (thrown) {
    if (!(await exists(treeOf(place)))) throw thrown;
    await removeTree(temporary);
  }
}

/** What was noted of a directory in place; null: nothing that can be read. */
export async function readKept(place: string): Promise<Kept | null> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(join(place, 'kept.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** Whether a directory in place is as it was made. */
export async function isAsMade(place: string, signal: AbortSignal): Promise<boolean> {
  const kept = await readKept(place);
  return kept !== null && (await digestOf(treeOf(place), signal)) === kept.digest;
}

/**
 * Takes a directory that is not as it was made out of its place. Those who still read it keep it for a day. True:
 * the place is free, or has another by now.
 */
export async function putAside(place: string, signal: AbortSignal): Promise<void> {
  const aside = asideOf(place);
  await rename(place, aside);
  // Another process may have put a good one there since it was looked at.
  if (!(await isAsMade(aside, signal))) return await touch(aside);
  await rename(aside, place).catch(() => touch(aside));
}

/** Says that it is used now. Does not mind when it is gone. */
export async function noteUse(place: string): Promise<void> {
  await touch(join(place, 'used')).catch(() => {});
}

/** Makes `home`, and removes what dead workers left in it. */
export async function prepareHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await removeAbandoned(home);
}

/** Removes what workers that died left on its way, in or out. */
export async function removeAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(asidePrefix)) continue;
    const age = await stat(join(home, name)).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > abandonedMs) await removeTree(join(home, name));
  }
}

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}
