import { posix } from 'node:path';
import picomatch from 'picomatch';
import { PatchfleetError } from '../domain/failure.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
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
 * Reads from the untouched workspace which of the scope's segments that look like globs are names. What
 * the repository is checked by is written only where the scope names it literally.
 */
export async function openWriteScope(
  writes: readonly string[],
  sandbox: Sandbox,
  signal: AbortSignal,
  protection: ProtectionOf,
): Promise<WriteScope> {
  const existing = new Set<string>();
  for (const path of new Set(writes.flatMap(questionablePaths)))
    if (await exists(path, sandbox, signal)) existing.add(path);
  return createWriteScope(writes, (path) => existing.has(path), protection);
}

export function createWriteScope(
  writes: readonly string[],
  isThere: (path: string) => boolean,
  protection: ProtectionOf,
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
      const kind = protection(path);
      if (kind === 'never')
        throw new Error(`${shown} is changed by people alone: make the change without it`);
      if (kind !== null && !literal.has(path)) {
        const what = kind === 'tests' ? 'is one of the tests' : 'decides how the repository is checked';
        throw new Error(`${shown} ${what} and your row does not name it: make the change without it`);
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
    if (error instanceof PatchfleetError) throw error;
    // There is no such directory.
    return false;
  }
}
