import type { MatrixRow } from './matrix.ts';
import { pathsThatExist, type Scope, scopeOf, scopesOverlap } from './scope-overlap.ts';

/** One of the rows that take the place of a row that was too big. */
export interface RowPart {
  /** `part 1/2`: goes behind the title of the row that was cut. */
  readonly title: string;
  readonly matrix: MatrixRow;
  /** Its part of the work, above 0; the parts' shares give 1. */
  readonly share: number;
}

/** Paths or globs that stay in one part, since they could mean the same file. */
interface Unit {
  readonly patterns: readonly string[];
  readonly weight: number;
}

/** The smaller part has at least this much of the work where that can be had; within it, directories stay whole. */
const leastShare = 1 / 3;

/**
 * Cuts a row that is too big in two: its scope, or what it reads where it writes nothing. The scopes of the parts are
 * disjoint and together the row's; a glob is not cut. What only one part may write is read by that part alone, the
 * other inputs by both. Empty where there is nothing to cut. `weights`: work by pattern; without it each counts alike.
 */
export function divideRow(row: MatrixRow, weights: ReadonlyMap<string, number> = new Map()): RowPart[] {
  const writes = row.writes.length > 0;
  const units = unitsOf(writes ? row.writes : row.inputs, row.inputs, weights);
  const cut = bestCut(units);
  if (cut === null) return [];
  const sides = [units.slice(0, cut), units.slice(cut)].map((side) => ({
    patterns: new Set(side.flatMap((unit) => unit.patterns)),
    weight: sum(side),
  }));
  const existing = pathsThatExist(row.inputs);
  const scopes = sides.map((side) => scopeOf([...side.patterns], row.inputs, existing));
  const total = sum(units);
  const first = (sides[0]?.weight ?? 0) / total;
  return sides.map((side, index) => {
    const other = scopes[1 - index];
    const own = scopes[index];
    const mine = (path: string) => own?.covered.has(path) === true || other?.covered.has(path) !== true;
    const part = `${index + 1}`;
    return {
      title: `part ${part}/2`,
      matrix: {
        ...row,
        goal: `${withoutNote(row.goal)}\n\nPart ${part} of 2 of this row: only ${named([...side.patterns])}.`,
        inputs: row.inputs.filter(writes ? mine : (path) => side.patterns.has(path)),
        writes: row.writes.filter((pattern) => side.patterns.has(pattern)),
      },
      share: index === 0 ? first : 1 - first,
    };
  });
}

/** In the order of their directories, so that neighbours are together. */
function unitsOf(
  patterns: readonly string[],
  files: readonly string[],
  weights: ReadonlyMap<string, number>,
): Unit[] {
  const existing = pathsThatExist(files);
  const sorted = [...new Set(patterns)].toSorted(byDirectory);
  const groups: { patterns: string[]; scopes: Scope[] }[] = [];
  for (const pattern of sorted) {
    const scope = scopeOf([pattern], files, existing);
    const same = groups.filter((group) =>
      // Two names that are no globs are two files.
      group.scopes.some(
        (other) => scope.globs.length + other.globs.length > 0 && scopesOverlap(scope, other),
      ),
    );
    const [into] = same;
    if (into === undefined) {
      groups.push({ patterns: [pattern], scopes: [scope] });
      continue;
    }
    into.patterns.push(pattern, ...same.slice(1).flatMap((group) => group.patterns));
    into.scopes.push(scope, ...same.slice(1).flatMap((group) => group.scopes));
    for (const gone of same.slice(1)) groups.splice(groups.indexOf(gone), 1);
  }
  return groups.map((group) => ({
    patterns: group.patterns,
    weight: group.patterns.reduce((all, pattern) => all + weightOf(weights.get(pattern)), 0),
  }));
}

/** Weights come from outside: what is no positive number counts as 1. */
function weightOf(weight: number | undefined): number {
  return weight !== undefined && Number.isFinite(weight) && weight > 0 ? weight : 1;
}

/**
 * Where to cut: of the places that leave both sides enough, the one that separates the most different directories,
 * then the most even one; the most even of all where no place leaves enough. Null: there is one unit alone.
 */
function bestCut(units: readonly Unit[]): number | null {
  const total = sum(units);
  let left = 0;
  const places = units.slice(1).map((unit, index) => {
    left += units[index]?.weight ?? 0;
    const smaller = Math.min(left, total - left) / total;
    return { at: index + 1, smaller, shared: sharedDirectories(units[index], unit) };
  });
  const even = places.filter(({ smaller }) => smaller >= leastShare);
  const best = even.length > 0 ? even : places;
  const order = best.toSorted(
    (a, b) => (even.length > 0 ? a.shared - b.shared : 0) || b.smaller - a.smaller || a.at - b.at,
  );
  return order[0]?.at ?? null;
}

/** Leading directories that the last path of one and the first of the next have in common. */
function sharedDirectories(before: Unit | undefined, after: Unit): number {
  const left = (before?.patterns.at(-1) ?? '').split('/').slice(0, -1);
  const right = (after.patterns[0] ?? '').split('/').slice(0, -1);
  const differs = left.findIndex((name, index) => name !== right[index]);
  return differs === -1 ? left.length : differs;
}

/** By directory, then by name, by code unit: the same on every machine. */
function byDirectory(a: string, b: string): number {
  const [left, right] = [a, b].map((path) => {
    const names = path.split('/');
    // A file of a directory comes before its subdirectories.
    return [...names.slice(0, -1).map((name) => `/${name}`), names.at(-1) ?? ''];
  });
  for (let at = 0; at < Math.max(left?.length ?? 0, right?.length ?? 0); at += 1) {
    const [x = '', y = ''] = [left?.[at], right?.[at]];
    const [xDirectory, yDirectory] = [x.startsWith('/'), y.startsWith('/')];
    if (xDirectory !== yDirectory) return xDirectory ? 1 : -1;
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

function sum(units: readonly Unit[]): number {
  return units.reduce((all, unit) => all + unit.weight, 0);
}

const filesNamed = 30;

function named(patterns: readonly string[]): string {
  const shown = patterns.slice(0, filesNamed).map((pattern) => JSON.stringify(pattern));
  const more = patterns.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** A part that is cut again says of which part it is, not of which it was. */
function withoutNote(goal: string): string {
  return goal.replace(/\n\nPart \d of \d of this row: only [^\n]*$/, '');
}
