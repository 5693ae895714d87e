import { type BigIntStats, constants } from 'node:fs';
import { chmod, lstat, opendir, readlink } from 'node:fs/promises';

/** Looking at directories that an agent may have written: by bytes, without following anything. */

export interface Seen {
  readonly name: Buffer;
  /** Relative to the root, bytes. */
  readonly path: Buffer;
  readonly stats: BigIntStats;
}

/** The walk is over: more than may be looked at. Its message says of what, where that is not files. */
export class TooMuch extends Error {}

/** Looked at at once. */
const width = 64;
const slash = Buffer.from('/');

export const rootPath: Buffer = Buffer.alloc(0);

export const below = (root: Buffer, path: Buffer): Buffer =>
  path.length === 0 ? root : Buffer.concat([root, slash, path]);
export const inside = (path: Buffer, name: Buffer): Buffer =>
  path.length === 0 ? name : Buffer.concat([path, slash, name]);
/** Bytes as a key of maps and sets. */
export const keyOf = (bytes: Buffer): string => bytes.toString('latin1');
export const targetOf = (root: Buffer, path: Buffer): Promise<Buffer> =>
  readlink(below(root, path), { encoding: 'buffer' });

export interface Named {
  readonly name: Buffer;
  isDirectory(): boolean;
}

/** Names in a directory, the root's `.git` left out. Throws {@link TooMuch} beyond `limit`. */
export async function namesIn(
  root: Buffer,
  path: Buffer,
  limit: number = Number.POSITIVE_INFINITY,
): Promise<Named[]> {
  const names: Named[] = [];
  for await (const entry of await openDirectory(below(root, path))) {
    if (path.length === 0 && keyOf(entry.name) === '.git') continue;
    names.push(entry);
    if (names.length > limit) throw new TooMuch();
  }
  return names;
}

/** What is there by that name; undefined: nothing. Its parent must be known to be a directory. */
export async function lookAt(root: Buffer, path: Buffer, name: Buffer): Promise<Seen | undefined> {
  const inner = inside(path, name);
  try {
    return { name, path: inner, stats: await lstat(below(root, inner), { bigint: true }) };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Does the same for all, some at once, and keeps the order. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += width) {
    done.push(...(await Promise.all(items.slice(at, at + width).map(work))));
  }
  return done;
}

/** All that is in a directory. */
export async function readDirectory(root: Buffer, path: Buffer, limit?: number): Promise<Seen[]> {
  const names = await namesIn(root, path, limit);
  const seen = await eachOf(names, ({ name }) => lookAt(root, path, name));
  return seen.filter((one) => one !== undefined);
}

/** Names in a directory as bytes, one after the other, whatever they are. */
export async function openNames(place: Buffer): Promise<AsyncIterable<Named>> {
  const options = { encoding: 'buffer' as 'utf8', bufferSize: 512 };
  // Node's types know no names as bytes here; with this encoding it gives them.
  const directory: unknown = await opendir(place as unknown as string, options);
  return directory as AsyncIterable<Named>;
}

/** A directory of our own without the right to read it is given that right: its mode is in no patch. */
async function openDirectory(place: Buffer): Promise<AsyncIterable<Named>> {
  const readable = process.getuid?.() === 0 || (await lstat(place, { bigint: true })).mode & 0o500n;
  if (readable === true || readable === 0o500n) return await openNames(place);
  await chmod(place, constants.S_IRWXU);
  return await openNames(place);
}

/** What something is that is neither a file nor a directory nor a symlink, for people. */
export function kindOf(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  return stats.isBlockDevice() || stats.isCharacterDevice() ? 'a device' : 'no regular file';
}
