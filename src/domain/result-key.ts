import { createHash } from 'node:crypto';
import type { MatrixRow } from './matrix.ts';
import { pathsThatExist, scopeOf } from './scope-overlap.ts';
import type { VerificationCommand } from './verification.ts';

/** When the work of a row is the same as that of an earlier one, and when it is alike. Pure. */

/** A file of a commit. */
export interface ListedFile {
  readonly path: string;
  readonly mode: string;
  readonly blob: string;
}

/** All that a row's patch is made from, by the words and bytes it is made from. */
export interface ResultSource {
  readonly repositoryId: number;
  readonly row: Pick<
    MatrixRow,
    'goal' | 'background' | 'writes' | 'inputs' | 'output' | 'constraints' | 'verification'
  >;
  readonly contract: string;
  /** Files of its scope and inputs in the commit it stands on: {@link filesOfRow}. */
  readonly files: readonly ListedFile[];
  readonly checks: readonly VerificationCommand[];
  readonly agent: {
    readonly name: string;
    readonly channel: string;
    readonly model: string;
    readonly instructions: string;
  };
  /** Of the repository file. */
  readonly instructions: string;
}

export interface ResultKeys {
  /** Equal: the same work. */
  readonly key: string;
  /** Equal: the same but for what is asked for. */
  readonly family: string;
}

export function keysOf(source: ResultSource): ResultKeys {
  const { goal, background, ...row } = source.row;
  const files = source.files
    .map(({ path, mode, blob }) => `${mode} ${blob} ${path}`)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const shared = { ...source, row: { ...row, writes: row.writes, inputs: row.inputs }, files };
  return { key: digestOf([shared, goal, background]), family: digestOf(shared) };
}

/** The files of a tree that a row may write, and those it is told to read. */
export function filesOfRow(
  { writes, inputs }: Pick<MatrixRow, 'writes' | 'inputs'>,
  tree: readonly ListedFile[],
): ListedFile[] {
  const paths = tree.map(({ path }) => path);
  const { covered } = scopeOf(writes, paths, pathsThatExist(paths));
  const read = new Set(inputs);
  return tree.filter(({ path }) => covered.has(path) || read.has(path));
}

/** Goals whose words overlap by as much are alike. */
const alike = 0.6;

/** The candidate whose goal is most alike to `goal`, the first of equals; null: none is alike enough. */
export function mostAlike<T extends { readonly goal: string }>(
  goal: string,
  candidates: readonly T[],
): T | null {
  let best: T | null = null;
  let most = alike;
  for (const candidate of candidates) {
    const overlap = overlapOf(goal, candidate.goal);
    if (overlap > most || (best === null && overlap === most)) {
      best = candidate;
      most = overlap;
    }
  }
  return best;
}

/** The share of words that two texts have in common, 0 to 1. */
export function overlapOf(a: string, b: string): number {
  const left = wordsOf(a);
  const right = wordsOf(b);
  const common = [...left].filter((word) => right.has(word)).length;
  const all = left.size + right.size - common;
  return all === 0 ? 0 : common / all;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
}

/** Independent of the order of keys. */
function digestOf(value: unknown): string {
  const sorted = (_: string, one: unknown): unknown =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one;
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex');
}
