import picomatch from 'picomatch';
import { isGlob, literalWhereItExists } from './scope.ts';

/** Whether two scopes can write the same file: by the files there are, and by those that may come to be. */

export interface Scope {
  /** Existing files that it covers, in the order of the tree. */
  readonly covers: readonly string[];
  /** The same, to look them up. */
  readonly covered: ReadonlySet<string>;
  /** Paths it spells out, existing or not. */
  readonly literals: ReadonlySet<string>;
  /** Its globs. */
  readonly globs: readonly (readonly Segment[])[];
}

/** A name, a glob within one name, or any number of names. */
type Segment =
  | { readonly literal: string }
  | { readonly glob: string; readonly matches: (name: string) => boolean }
  | '**';

const options = { dot: true, nonegate: true, flags: 's' } as const;

/** All files and directories of a repository. */
export function pathsThatExist(files: readonly string[]): ReadonlySet<string> {
  const paths = new Set<string>(files);
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const directory = file.slice(0, end);
      if (paths.has(directory)) break;
      paths.add(directory);
    }
  }
  return paths;
}

export function scopeOf(
  patterns: readonly string[],
  files: readonly string[],
  existing: ReadonlySet<string>,
): Scope {
  const globs = patterns.map((pattern) => readPattern(pattern, existing));
  const literal = new Set(patterns);
  const matchers = globs.filter(isGlob).map((glob) => picomatch(glob, options));
  const covers = files.filter((path) => literal.has(path) || matchers.some((matches) => matches(path)));
  return {
    covers,
    covered: new Set(covers),
    // What is spelled like a glob may also be meant as the name of a new file.
    literals: literal,
    globs: globs
      .filter(isGlob)
      .map(shapeOf)
      .filter((shape) => !shape.every(isLiteral)),
  };
}

/** True where a file could be in both. Never false where one could; true now and then where none can. */
export function scopesOverlap(a: Scope, b: Scope): boolean {
  if (b.covers.some((path) => a.covered.has(path))) return true;
  if (intersect(a.literals, b.literals)) return true;
  return (
    a.globs.some((left) => b.globs.some((right) => shapesMeet(left, right))) ||
    globsMeet(a.globs, b.literals) ||
    globsMeet(b.globs, a.literals)
  );
}

function intersect(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  return [...few].some((path) => many.has(path));
}

function globsMeet(globs: Scope['globs'], literals: ReadonlySet<string>): boolean {
  return (
    globs.length > 0 && [...literals].some((path) => globs.some((glob) => shapesMeet(glob, spell(path))))
  );
}

function spell(path: string): Segment[] {
  return path.split('/').map((literal) => ({ literal }));
}

function isLiteral(segment: Segment): boolean {
  return segment !== '**' && 'literal' in segment;
}

function readPattern(pattern: string, existing: ReadonlySet<string>): string {
  const glob = literalWhereItExists(pattern, (path) => existing.has(path));
  return glob.endsWith('/') ? `${glob}**` : glob;
}

function shapeOf(glob: string): Segment[] {
  const segments: Segment[] = [];
  for (const part of glob.split('/')) {
    // Brackets that hold a slash, and `**.ts`, which crosses them: whatever comes from here on.
    if (!balanced(part) || (part !== '**' && part.includes('**'))) return [...segments, '**'];
    if (part === '**') segments.push('**');
    else if (!isGlob(part.replace(/\\./g, ''))) segments.push({ literal: part.replace(/\\(.)/g, '$1') });
    else segments.push({ glob: part, matches: picomatch(part, options) });
  }
  return segments;
}

function balanced(part: string): boolean {
  const bare = part.replace(/\\./g, '');
  const count = (character: string) => bare.split(character).length;
  return ['{}', '()', '[]'].every(([open = '', close = '']) => count(open) === count(close));
}

/** Whether some path has both shapes. */
function shapesMeet(a: readonly Segment[], b: readonly Segment[]): boolean {
  const known = new Map<number, boolean>();
  const meet = (i: number, j: number): boolean => {
    const key = i * (b.length + 1) + j;
    const before = known.get(key);
    if (before !== undefined) return before;
    const left = a[i];
    const right = b[j];
    let answer: boolean;
    if (left === undefined || right === undefined) {
      const rest = left === undefined ? b.slice(j) : a.slice(i);
      answer = rest.every((segment) => segment === '**');
    } else if (left === '**') answer = meet(i + 1, j) || meet(i, j + 1);
    else if (right === '**') answer = meet(i, j + 1) || meet(i + 1, j);
    else answer = namesMeet(left, right) && meet(i + 1, j + 1);
    known.set(key, answer);
    return answer;
  };
  return meet(0, 0);
}

function namesMeet(a: Exclude<Segment, '**'>, b: Exclude<Segment, '**'>): boolean {
  if ('literal' in a) return 'literal' in b ? a.literal === b.literal : b.matches(a.literal);
  if ('literal' in b) return a.matches(b.literal);
  const [left, right] = [ends(a.glob), ends(b.glob)];
  return (
    (left.head.startsWith(right.head) || right.head.startsWith(left.head)) &&
    (left.tail.endsWith(right.tail) || right.tail.endsWith(left.tail))
  );
}

/** What every name that matches begins and ends with. */
function ends(glob: string): { head: string; tail: string } {
  // With alternatives, escapes or extended globs (`+(x)`) nothing is taken for certain.
  if (/[\\(){}|]/.test(glob)) return { head: '', tail: '' };
  return { head: /^[^*?[\]]*/.exec(glob)?.[0] ?? '', tail: /[^*?[\]]*$/.exec(glob)?.[0] ?? '' };
}
