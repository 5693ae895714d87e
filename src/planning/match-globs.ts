import picomatch from 'picomatch';

/**
 * Whether a path matches one of the globs. Names that begin with a dot are no exception; a glob that ends in
 * `/` means all below it. A path that is equal to a glob matches it, so that `app/[id]/page.tsx` can be
 * written as it is although `[id]` is a character class in globs.
 */
export function matchGlobs(globs: readonly string[]): (path: string) => boolean {
  const literal = new Set(globs);
  const matchers = globs
    .filter((glob) => glob !== '')
    .map((glob) =>
      // `s`: names may hold newlines, and `**` must not stop there.
      picomatch(glob.endsWith('/') ? `${glob}**` : glob, { dot: true, nonegate: true, flags: 's' }),
    );
  return (path) => literal.has(path) || matchers.some((matches) => matches(path));
}
