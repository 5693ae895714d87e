import picomatch from 'picomatch';

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
  const literal = new Set(writes);
  const matchers = writes
    .filter((write) => write !== '' && !files.has(write))
    .map((write) => pathGlob(escapeExisting(write, directories)));
  return (path) => literal.has(path) || matchers.some((matches) => matches(path));
}

/** A glob over paths: dots are no exception, `/` at its end means all below. */
export function pathGlob(glob: string, options: { readonly nocase?: boolean } = {}) {
  const whole = glob.endsWith('/') ? `${glob}**` : glob;
  return picomatch(whole, { dot: true, nonegate: true, flags: options.nocase ? 'si' : 's' });
}

/** Leading directories that exist as written lose their meaning as patterns. */
function escapeExisting(glob: string, directories: ReadonlySet<string>): string {
  const parts = glob.split('/');
  let existing = 0;
  while (existing < parts.length && directories.has(parts.slice(0, existing + 1).join('/'))) existing += 1;
  return parts
    .map((part, index) => (index < existing ? part.replace(/[\\[\]{}()*?!+@|^$.,]/g, '\\$&') : part))
    .join('/');
}
