import type { PlannedRow } from '../domain/matrix.ts';
import { estimateSandbox, type MemoryBounds } from '../domain/sandbox-estimate.ts';
import type { TaskKind } from '../domain/task.ts';

/** What the tree that rows work on holds. */
export interface TreeSize {
  readonly files: number;
  /** Packages, by their manifests. */
  readonly packages: number;
}

/**
 * The rows with the memory of their sandboxes and what they take of a worker. Rows whose work is verified get what
 * verifications of the repository needed (`peaksMib`, the newest); those that only read go by what they read. A triage
 * has no sandbox. Fails with `memory_ceiling`.
 */
export function sizeRows(
  rows: readonly PlannedRow[],
  kind: TaskKind,
  facts: { readonly tree: TreeSize; readonly peaksMib: readonly number[] },
  bounds: MemoryBounds,
): PlannedRow[] {
  if (kind === 'triage') return [...rows];
  const { tree, peaksMib } = facts;
  return rows.map((row) => {
    const shape = row.shape ?? { lines: 0, nesting: 0, imports: 0 };
    const size = {
      files: tree.files,
      lines: shape.lines,
      nesting: shape.nesting,
      dependencies: tree.packages + shape.imports,
    };
    const verified = kind !== 'review';
    const estimate = estimateSandbox(size, verified ? peaksMib : [], bounds);
    // The default stays the default, also where the operator changes it before the row runs.
    if (estimate.memoryMib === bounds.baseMib) return row;
    return { ...row, ...estimate };
  });
}
