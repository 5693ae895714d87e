import { join, posix } from 'node:path';

/** An error whose text is meant for whoever asked: it becomes the `error` of the response. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

/**
 * The place in the workspace that a path of a request means. Absolute paths and `..` are refused rather than
 * resolved: they are mistakes of the agent, and it learns more from being told. A symlink may lead out of the
 * workspace; the container is the wall, not this function.
 */
export function workspacePath(workspace: string, path: string): string {
  if (path.includes('\0')) throw new RequestError('the path contains a NUL character');
  if (posix.isAbsolute(path)) {
    throw new RequestError(`the path must be relative to the workspace, not absolute: ${path}`);
  }
  if (path.split('/').includes('..')) throw new RequestError(`the path must not contain "..": ${path}`);
  return join(workspace, path);
}

/** Turns an error of the file system into one that says what is wrong with the path asked for. */
export function pathError(path: string, thrown: unknown): RequestError {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  const reasons: Record<string, string> = {
    ENOENT: 'no such file or directory',
    ENOTDIR: 'a part of the path is not a directory',
    EACCES: 'permission denied',
    ELOOP: 'too many symbolic links',
    ENAMETOOLONG: 'the path is too long',
    EISDIR: 'is a directory',
  };
  const reason = typeof code === 'string' ? (reasons[code] ?? code) : String(thrown);
  return new RequestError(`${path || '.'}: ${reason}`);
}
