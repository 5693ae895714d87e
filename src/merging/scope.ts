import { pathGlob } from '../domain/path-glob.ts';
import { literalWhereItExists } from '../domain/scope.ts';

/**
 * Whether a row may write a path. `writes` are literal paths or globs, as matchGlobs of planning reads them, but
 * what exists in the tree is taken by its name: `app/[id]/page.tsx` is that file and no character class, and in
 * `app/[id]/**` the directory is literal when the tree has it.
 */
export function scopeMatcher(
  writes: readonly string[],
  treePaths: readonly string[],
): (path: string) => boolean {
  const files = new Set(treePaths);
  const directories = new Set<string>();
  for (const path of treePaths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const directory = path.slice(0, at);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  const exists = (path: string) => files.has(path) || directories.has(path);
  const literal = new Set(writes);
  const matchers = writes
    .filter((write) => write !== '' && !files.has(write))
    .map((write) => pathGlob(literalWhereItExists(write, exists)));
  return (path) => literal.has(path) || matchers.some((matches) => matches(path));
}
