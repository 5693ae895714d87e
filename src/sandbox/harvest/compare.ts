import { type BigIntStats, constants } from 'node:fs';
import { chmod, type FileHandle, open } from 'node:fs/promises';

/** Bytes compared at a time. */
const stepBytes = 256 * 1024;

/**
 * Opens the regular file that `seen` describes: no symlink is followed, nothing waits for a FIFO's other end, and
 * what turns out to be another file, or changed since, is refused. `repair`: a file of our own whose owner may
 * not read it is made readable first.
 */
export async function openSeen(path: Buffer, seen: BigIntStats): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
  const file = await open(path, flags).catch(async (thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'EACCES') throw thrown;
    await chmod(path, 0o600);
    return await open(path, flags);
  });
  const now = await file.stat({ bigint: true });
  if (now.isFile() && now.dev === seen.dev && now.ino === seen.ino && now.size === seen.size) return file;
  await file.close();
  throw new Error('the file is no longer the one that was seen');
}

/** The whole content of a file as it was seen. */
export async function readSeen(path: Buffer, seen: BigIntStats): Promise<Buffer> {
  const file = await openSeen(path, seen);
  try {
    const content = Buffer.alloc(Number(seen.size));
    for (let at = 0; at < content.length; ) {
      const { bytesRead } = await file.read(content, at, content.length - at, at);
      if (bytesRead === 0) throw new Error('the file became shorter while it was read');
      at += bytesRead;
    }
    return content;
  } finally {
    await file.close();
  }
}

/** Whether two files hold the same bytes. Times are not looked at: whoever owns a file can set them. */
export async function sameContent(
  one: { readonly path: Buffer; readonly seen: BigIntStats },
  other: { readonly path: Buffer; readonly seen: BigIntStats },
): Promise<boolean> {
  if (one.seen.size !== other.seen.size) return false;
  const size = Number(one.seen.size);
  if (size === 0) return true;
  const first = await openSeen(one.path, one.seen);
  try {
    const second = await openSeen(other.path, other.seen);
    try {
      const step = Math.min(size, stepBytes);
      const [a, b] = [Buffer.allocUnsafe(step), Buffer.allocUnsafe(step)];
      for (let at = 0; at < size; ) {
        const count = Math.min(step, size - at);
        const read = await Promise.all([fill(first, a, count, at), fill(second, b, count, at)]);
        if (read[0] !== count || read[1] !== count) return false;
        if (a.compare(b, 0, count, 0, count) !== 0) return false;
        at += count;
      }
      return true;
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

async function fill(file: FileHandle, into: Buffer, count: number, at: number): Promise<number> {
  let done = 0;
  while (done < count) {
    const { bytesRead } = await file.read(into, done, count - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}
