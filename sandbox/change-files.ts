import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { editText } from './edit-text.ts';
import type { EditRequest, RemoveRequest, WriteRequest } from './protocol.ts';
import { pathError, RequestError, workspacePath } from './workspace-path.ts';

/** A text file larger than this is not edited. */
const editFileBytes = 8 * 1024 * 1024;

/** Writes a whole file, making its directories. Whoever reads it meanwhile sees the old file or the new one. */
export async function writeWhole(workspace: string, request: WriteRequest): Promise<object> {
  const path = await writablePath(workspace, request.path, true);
  const before = await fileAt(path, request.path);
  const kept = before === null ? 0o644 : before.mode & 0o777;
  const mode =
    request.executable === null ? kept : request.executable ? kept | ((kept & 0o444) >> 2) : kept & ~0o111;
  await replaceFile(path, request.path, Buffer.from(request.content, 'utf8'), mode);
  return {};
}

/** Replaces a text that occurs once; see {@link editText}. */
export async function editFile(workspace: string, request: EditRequest) {
  const path = await writablePath(workspace, request.path, false);
  const before = await fileAt(path, request.path);
  if (before === null) throw new RequestError(`${request.path}: no such file or directory`);
  if (before.size > editFileBytes) {
    throw new RequestError(`${request.path}: ${before.size} bytes are too many to edit`);
  }
  const bytes = await readFile(path, request.path);
  if (bytes.subarray(0, 8000).includes(0)) throw new RequestError(`${request.path}: is a binary file`);
  const text = bytes.toString('utf8');
  // What is not UTF-8 would not come back as it was.
  if (!Buffer.from(text, 'utf8').equals(bytes)) {
    throw new RequestError(`${request.path}: is not UTF-8 text; run a command to change it`);
  }
  const { text: edited, ...result } = editText(text, request.old, request.replacement);
  if (edited !== null)
    await replaceFile(path, request.path, Buffer.from(edited, 'utf8'), before.mode & 0o777);
  return result;
}

/** Removes a file or a symlink itself. */
export async function removeFile(workspace: string, request: RemoveRequest): Promise<object> {
  const path = await writablePath(workspace, request.path, false);
  const stat = await lstat(path).catch((thrown: unknown) => {
    throw pathError(request.path, thrown);
  });
  if (stat.isDirectory()) {
    throw new RequestError(`${request.path}: is a directory; remove its files one by one, or run \`rm -r\``);
  }
  await unlink(path).catch((thrown: unknown) => {
    throw pathError(request.path, thrown);
  });
  return {};
}

/**
 * The real place of a path whose directories, by whatever symlinks they are reached, lie in the workspace. The
 * last component is not resolved: a symlink there is replaced or removed, never followed.
 */
async function writablePath(workspace: string, path: string, makeDirectories: boolean): Promise<string> {
  const place = workspacePath(workspace, path);
  if (place === workspacePath(workspace, '') || path === '' || path.endsWith('/') || basename(path) === '.') {
    throw new RequestError(`${path || '.'}: is not the name of a file`);
  }
  const root = await realpath(workspace);
  const missing: string[] = [];
  let parent = dirname(place);
  for (;;) {
    const real = await realpath(parent).catch(async (thrown: NodeJS.ErrnoException) => {
      const dangles = thrown.code === 'ENOENT' && (await lstat(parent).catch(() => null)) !== null;
      if (thrown.code !== 'ENOENT' || dangles || !makeDirectories) throw pathError(path, thrown);
      return null;
    });
    if (real !== null) {
      const inside = relative(root, real);
      if (inside === '..' || inside.startsWith('../')) {
        throw new RequestError(`${path}: leads out of the workspace by a symlink`);
      }
      parent = join(real, ...missing.reverse());
      break;
    }
    missing.push(basename(parent));
    parent = dirname(parent);
  }
  if (makeDirectories) {
    await mkdir(parent, { recursive: true }).catch((thrown: NodeJS.ErrnoException) => {
      const isFile = thrown.code === 'EEXIST';
      throw isFile
        ? new RequestError(`${path}: a part of the path is not a directory`)
        : pathError(path, thrown);
    });
  }
  return join(parent, basename(place));
}

/** What stands at a path to be written: a regular file, or null for nothing. */
async function fileAt(path: string, asked: string): Promise<Stats | null> {
  const stat = await lstat(path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return null;
    throw pathError(asked, thrown);
  });
  if (stat === null || stat.isFile()) return stat;
  const kind = stat.isDirectory() ? 'a directory' : stat.isSymbolicLink() ? 'a symlink' : 'not a file';
  throw new RequestError(`${asked}: is ${kind}`);
}

async function readFile(path: string, asked: string): Promise<Buffer> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((thrown: unknown) => {
    throw pathError(asked, thrown);
  });
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function replaceFile(path: string, asked: string, content: Buffer, mode: number): Promise<void> {
  const temporary = join(dirname(path), `.patchfleet-${randomUUID()}`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      // After the fact, for the umask has no say in it.
      await file.chmod(mode);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw pathError(asked, thrown);
  }
}
