import { posix } from 'node:path';
import picomatch from 'picomatch';
import { literalWhereItExists, questionablePaths } from '../domain/scope.ts';
import type { Sandbox } from '../sandbox/port.ts';

/** What an agent may write, asked before every write: the policy that reads the patch later should find nothing. */
export interface WriteScope {
  /** The path in its one spelling. Throws an Error whose message is for the model where it may not be written. */
  require(path: string): string;
}

/** Entries of one directory that are looked through. */
const listLimit = 10_000;

/**
 * Reads from the untouched workspace which of the scope's segments that look like globs are names. `isProtected`
 * tells of files that are written only where the scope names them literally.
 */
export async function openWriteScope(
  writes: readonly string[],
  sandbox: Sandbox,
  signal: AbortSignal,
  isProtected: (path: string) => boolean,
): Promise<WriteScope> {
  const existing = new Set<string>();
  for (const path of new Set(writes.flatMap(questionablePaths)))
    if (await exists(path, sandbox, signal)) existing.add(path);
  return createWriteScope(writes, (path) => existing.has(path), isProtected);
}

export function createWriteScope(
  writes: readonly string[],
  isThere: (path: string) => boolean,
  isProtected: (path: string) => boolean,
): WriteScope {
  const literal = new Set(writes);
  const matchers = writes
    .map((glob) => literalWhereItExists(glob, isThere))
    .map((glob) =>
      picomatch(glob.endsWith('/') ? `${glob}**` : glob, { dot: true, nonegate: true, flags: 's' }),
    );
  return {
    require(given) {
      const path = oneSpelling(given);
      const shown = JSON.stringify(path);
      if (!literal.has(path) && !matchers.some((matches) => matches(path))) {
        const scope = writes.map((pattern) => JSON.stringify(pattern)).join(', ');
        throw new Error(`${shown} is outside your scope; you may write: ${scope || 'nothing'}`);
      }
      if (!literal.has(path) && isProtected(path)) {
        throw new Error(
          `${shown} is protected (tests, scripts, runner configuration, lockfiles, settings of the repository) and your row does not name it: make the change without it`,
        );
      }
      return path;
    },
  };
}

function oneSpelling(given: string): string {
  if (given.includes('\0')) throw new Error('the path must not contain a NUL character');
  if (given.startsWith('/')) throw new Error('the path must be relative to the repository root');
  if (given.split('/').includes('..')) throw new Error('the path must not contain ".."');
  const path = posix.normalize(given);
  if (path === '.' || path === '' || path.endsWith('/')) throw new Error('the path must name a file');
  if (path.split('/').some((name) => name.toLowerCase() === '.git'))
    throw new Error('.git is no part of the repository');
  return path;
}

async function exists(path: string, sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
  const { dir, base } = posix.parse(path);
  try {
    const entries = await sandbox.list(dir, { signal, limit: listLimit });
    return entries.some((entry) => entry.name === base);
  } catch (error) {
    signal.throwIfAborted();
    // No such directory.
    if (error instanceof Error && error.name === 'ToolError') return false;
    throw error;
  }
}
