import type { MatrixRow } from './matrix.ts';
import { isGlob } from './scope.ts';

/** A part of a row that was too big. */
export interface RowPart {
  /** To be appended to the row's, e.g. `part 1/2`. */
  readonly title: string;
  readonly matrix: MatrixRow;
  /** Its part of the row's complexity; those of all parts are 1 together. */
  readonly share: number;
}

/**
 * Cuts a row into smaller ones: one that writes by the paths it may write, one that only reads by those it reads.
 * Empty: it cannot be divided (one path, or a glob, which may be any number).
 */
export function divideRow(row: MatrixRow): readonly RowPart[] {
  const { writes, inputs } = row;
  const whole = writes.length > 0 ? writes : inputs;
  if (whole.length < 2 || writes.some(isGlob)) return [];
  const half = Math.ceil(whole.length / 2);
  return [whole.slice(0, half), whole.slice(half)].map((part, index) => {
    const others = new Set(whole.filter((path) => !part.includes(path)));
    const read = inputs.filter((path) => !others.has(path));
    return {
      title: `part ${index + 1}/2`,
      matrix: writes.length > 0 ? { ...row, writes: part, inputs: read } : { ...row, inputs: part },
      share: part.length / whole.length,
    };
  });
}
