import { constants, fstatSync, readSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListRequest, ReadRequest } from './protocol.ts';
import { pathError, RequestError, workspacePath } from './workspace-path.ts';

/** Bytes of text one read gives at most. */
const readTextBytes = 512 * 1024;
/** A file larger than this is not read at all: counting its lines would take too long. */
const readFileBytes = 64 * 1024 * 1024;
/** One no larger is read at once, without the turns of a stream, which take longer than the rest of the answer. */
const smallFileBytes = 64 * 1024;

interface EntryFound {
  name: string;
  type: 'file' | 'directory' | 'symlink' | 'other';
  bytes: number;
}

/** Entries of a directory, sorted by name, at most `limit`. */
export async function listDirectory(workspace: string, request: ListRequest): Promise<EntryFound[]> {
  const directory = workspacePath(workspace, request.path);
  const names = await readdir(directory).catch((thrown: unknown) => {
    throw pathError(request.path, thrown);
  });
  const entries: EntryFound[] = [];
  for (const name of names.sort().slice(0, request.limit)) {
    // Gone meanwhile, or a name that is not UTF-8: left out.
    const stat = await lstat(join(directory, name)).catch(() => null);
    if (stat === null) continue;
    const type = stat.isFile()
      ? 'file'
      : stat.isDirectory()
        ? 'directory'
        : stat.isSymbolicLink()
          ? 'symlink'
          : 'other';
    entries.push({ name, type, bytes: stat.size });
  }
  return entries;
}

/** Lines of a text file. A last line without a newline counts as a line; an empty file has none. */
export async function readLines(workspace: string, request: ReadRequest, signal: AbortSignal) {
  const path = workspacePath(workspace, request.path);
  // Non-blocking: opening a FIFO for reading would otherwise wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((thrown: unknown) => {
    throw pathError(request.path, thrown);
  });
  try {
    const stat = fstatSync(file.fd);
    if (!stat.isFile()) throw new RequestError(`${request.path}: is not a file`);
    if (stat.size > readFileBytes) {
      throw new RequestError(
        `${request.path}: ${stat.size} bytes are too many to read; search it, or run a command`,
      );
    }
    const end = request.end ?? Number.MAX_SAFE_INTEGER;
    const kept: Buffer[] = [];
    let keptBytes = 0;
    let newlines = 0;
    let bytes = 0;
    let lastByte = 0x0a;
    // A stream made under a signal that is aborted already fails where nobody listens.
    signal.throwIfAborted();
    for await (const chunk of piecesOf(file, stat.size, signal)) {
      if (bytes === 0 && chunk.subarray(0, 8000).includes(0))
        throw new RequestError(`${request.path}: is a binary file`);
      bytes += chunk.length;
      lastByte = chunk[chunk.length - 1] ?? lastByte;
      for (let from = 0; from < chunk.length; ) {
        const at = chunk.indexOf(0x0a, from);
        const to = at === -1 ? chunk.length : at + 1;
        const line = newlines + 1;
        if (line >= request.start && line <= end && keptBytes <= readTextBytes) {
          kept.push(chunk.subarray(from, to));
          keptBytes += to - from;
        }
        if (at !== -1) newlines += 1;
        from = to;
      }
    }
    const totalLines = newlines + (lastByte === 0x0a ? 0 : 1);
    const truncated = keptBytes > readTextBytes;
    const text = Buffer.concat(kept).subarray(0, readTextBytes);
    const whole = truncated ? text.subarray(0, text.lastIndexOf(0x0a) + 1 || text.length) : text;
    const lines = countLines(whole);
    return {
      text: whole.toString('utf8'),
      start: request.start,
      end: lines === 0 ? request.start - 1 : request.start + lines - 1,
      totalLines,
      truncated,
    };
  } finally {
    await file.close();
  }
}

function piecesOf(
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Iterable<Buffer> | AsyncIterable<Buffer> {
  // What is made as it is read, as below /proc, has no size.
  if (size === 0 || size > smallFileBytes) return file.createReadStream({ autoClose: false, signal });
  const bytes = Buffer.allocUnsafe(size);
  let have = 0;
  for (let read = -1; have < size && read !== 0; have += read)
    read = readSync(file.fd, bytes, have, size - have, null);
  return [bytes.subarray(0, have)];
}

function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(0x0a); at !== -1; at = text.indexOf(0x0a, at + 1)) lines += 1;
  return text.length > 0 && text[text.length - 1] !== 0x0a ? lines + 1 : lines;
}
