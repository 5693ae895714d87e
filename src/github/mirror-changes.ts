import { isUtf8 } from 'node:buffer';
import type { ChangeSet } from '../domain/change.ts';
import { displayPath, parsePatch } from '../domain/parse-patch.ts';
import { parseRaw, type RawEntry } from '../domain/parse-raw.ts';
import { requireSha } from './mirror-fetch.ts';
import type { ChangesOptions } from './port.ts';
import { runGit } from './run-git.ts';

/**
 * Options that make git's diff the one GitHub shows, whatever version or settings; and that let nothing in
 * the repository run or change it.
 */
const diffArgs = [
  ...[
    '--literal-pathspecs',
    'diff',
    '-z',
    '--full-index',
    '--no-abbrev',
    '--find-renames=50%',
    '--diff-algorithm=myers',
    '--indent-heuristic',
  ],
  ...['--unified=3', '--inter-hunk-context=0', '--submodule=short', '--no-relative', '--no-color'],
  ...['--no-ext-diff', '--no-textconv', '--src-prefix=a/', '--dst-prefix=b/', '--ignore-submodules=none'],
];

/** Longest list of paths, in bytes, that is given to git as arguments. */
const maxArgumentBytes = 64 * 1024;

export async function readChanges(
  gitDir: string,
  base: string,
  head: string,
  options: ChangesOptions,
): Promise<ChangeSet> {
  const range = [requireSha(base), requireSha(head)];
  const read = async (formats: readonly string[], paths: readonly string[]): Promise<Buffer> => {
    const { stdout } = await runGit([...diffArgs, ...formats, ...range, '--', ...paths], {
      gitDir,
      maxBytes: options.maxBytes,
      tooLarge: 'diff_too_large',
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return stdout;
  };
  const whole = ['--raw', '--patch'];
  if (options.paths === undefined) return parsePatch(await read(whole, []));
  if (options.paths.length === 0) return { changes: [], skipped: [] };

  // Renames are found among all changed files: those that concern the paths are looked up first, and
  // both of their names given. Git may still pair fewer files differently; then the whole diff is read.
  const wanted = new Set(options.paths);
  const entries = parseRaw(await read(['--raw'], [])).entries.filter((entry) => concerns(entry, wanted));
  if (entries.length === 0) return { changes: [], skipped: [] };
  const names = entries.flatMap((entry) => [entry.path, ...(entry.oldPath === null ? [] : [entry.oldPath])]);
  const narrow =
    names.every((name) => isUtf8(name)) &&
    names.reduce((sum, name) => sum + name.length + 1, 0) <= maxArgumentBytes;
  if (narrow) {
    const output = await read(whole, names.map(String));
    const found = parseRaw(output).entries.filter((entry) => concerns(entry, wanted));
    if (JSON.stringify(found) === JSON.stringify(entries)) return only(parsePatch(output), wanted);
  }
  return only(parsePatch(await read(whole, [])), wanted);
}

function concerns(entry: RawEntry, wanted: ReadonlySet<string>): boolean {
  return wanted.has(displayPath(entry.path));
}

function only(set: ChangeSet, wanted: ReadonlySet<string>): ChangeSet {
  return {
    changes: set.changes.filter((change) => wanted.has(change.path)),
    skipped: set.skipped.filter((file) => wanted.has(file.path)),
  };
}
