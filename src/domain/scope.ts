/**
 * Scopes are literal paths or globs. A path such as `app/[id]/page.tsx` is both, so what exists decides: a segment
 * that is the name of something there is that name and no glob.
 */

const globCharacters = /[*?[\](){}|\\]/;

/** Whether a pattern can mean more than the one path it spells. */
export function isGlob(pattern: string): boolean {
  return globCharacters.test(pattern);
}

/**
 * The pattern with every segment escaped that exists by that name, so that a glob matcher takes it literally.
 * `exists` tells of a path (without escapes) whether a file or directory is there.
 */
export function literalWhereItExists(pattern: string, exists: (path: string) => boolean): string {
  const path: string[] = [];
  return pattern
    .split('/')
    .map((segment) => {
      path.push(segment);
      if (!isGlob(segment) || isWild(segment) || !exists(path.join('/'))) return segment;
      return segment.replace(/[*?[\](){}|\\]/g, '\\$&');
    })
    .join('/');
}

/** Paths that {@link literalWhereItExists} would ask for, where the answer takes time. */
export function questionablePaths(pattern: string): string[] {
  const segments = pattern.split('/');
  return segments.flatMap((segment, index) =>
    isGlob(segment) && !isWild(segment) ? [segments.slice(0, index + 1).join('/')] : [],
  );
}

/** `*` and `**` are never meant as names. */
function isWild(segment: string): boolean {
  return segment === '*' || segment === '**';
}
