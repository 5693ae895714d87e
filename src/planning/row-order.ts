import { comesAfter } from '../domain/parallelism.ts';
import { type Scope, scopesOverlap } from '../domain/scope-overlap.ts';

/** The order of rows: which come after which, and which would get in each other's way. */

/** Rows of a cycle, in its order; null where there is none. Dependencies that do not exist are passed over. */
export function findCycle(dependsOn: readonly (readonly number[])[]): number[] | null {
  const state = new Map<number, 'open' | 'done'>();
  const path: number[] = [];
  const visit = (row: number): number[] | null => {
    if (state.get(row) === 'done') return null;
    if (state.get(row) === 'open') return path.slice(path.indexOf(row));
    state.set(row, 'open');
    path.push(row);
    for (const other of dependsOn[row] ?? []) {
      const cycle = dependsOn[other] === undefined ? null : visit(other);
      if (cycle !== null) return cycle;
    }
    path.pop();
    state.set(row, 'done');
    return null;
  };
  for (const row of dependsOn.keys()) {
    const cycle = visit(row);
    if (cycle !== null) return cycle;
  }
  return null;
}

/** Pairs of rows, the lower first, that may write the same file and are not ordered. */
export function collisions(
  scopes: readonly Scope[],
  dependsOn: readonly (readonly number[])[],
): [number, number][] {
  const after = comesAfter(dependsOn);
  return scopes.flatMap((scope, upper) =>
    scopes.slice(0, upper).flatMap((other, lower): [number, number][] => {
      const ordered = after[upper]?.has(lower) === true || after[lower]?.has(upper) === true;
      return !ordered && scopesOverlap(scope, other) ? [[lower, upper]] : [];
    }),
  );
}

/**
 * The dependencies with those added that order every collision: the later row waits for the earlier one. Stays
 * acyclic, since only rows without an order between them get one.
 */
export function orderCollisions(
  scopes: readonly Scope[],
  dependsOn: readonly (readonly number[])[],
): number[][] {
  const ordered = dependsOn.map((rows) => [...rows]);
  let after = comesAfter(ordered);
  for (const [upper, scope] of scopes.entries()) {
    // The nearest first: what they already wait for needs no dependency of its own.
    for (let lower = upper - 1; lower >= 0; lower -= 1) {
      const other = scopes[lower];
      if (after[upper]?.has(lower) === true || after[lower]?.has(upper) === true) continue;
      if (other === undefined || !scopesOverlap(scope, other)) continue;
      ordered[upper]?.push(lower);
      after = comesAfter(ordered);
    }
  }
  return ordered.map((rows) => rows.toSorted((a, b) => a - b));
}
