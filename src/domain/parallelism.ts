/** How much of an acyclic graph of rows can run at once. `dependsOn` holds positions. */
export type DependsOn = readonly (readonly number[])[];

/** Positions of the longest chain, in the order they run; of several the first in that order. */
export function longestChain(dependsOn: DependsOn): number[] {
  const chains = new Map<number, { readonly length: number; readonly before: number | null }>();
  const chainOf = (row: number): number => {
    const known = chains.get(row);
    if (known !== undefined) return known.length;
    let [length, before]: [number, number | null] = [0, null];
    for (const other of dependsOn[row] ?? []) {
      const longer = chainOf(other);
      if (longer > length) [length, before] = [longer, other];
    }
    chains.set(row, { length: length + 1, before });
    return length + 1;
  };
  let [longest, last]: [number, number | null] = [0, null];
  for (const row of dependsOn.keys()) {
    const length = chainOf(row);
    if (length > longest) [longest, last] = [length, row];
  }
  const path: number[] = [];
  for (let row = last; row !== null; row = chains.get(row)?.before ?? null) path.unshift(row);
  return path;
}

/** For each row all rows that are over before it starts. */
export function comesAfter(dependsOn: DependsOn): ReadonlySet<number>[] {
  const before = new Map<number, Set<number>>();
  const visit = (row: number): Set<number> => {
    const known = before.get(row);
    if (known !== undefined) return known;
    const all = new Set<number>();
    before.set(row, all);
    for (const other of dependsOn[row] ?? []) {
      all.add(other);
      for (const one of visit(other)) all.add(one);
    }
    return all;
  };
  return dependsOn.map((_, row) => visit(row));
}

/**
 * The most rows that can run at the same time: the largest set without an order between any two. By Dilworth's
 * theorem it is the number of rows less a largest matching of rows with rows that come after them.
 */
export function widest(dependsOn: DependsOn): number {
  const after = comesAfter(dependsOn);
  /** The later row that an earlier one is matched with. */
  const matched = new Map<number, number>();
  const tryRow = (later: number, seen: Set<number>): boolean => {
    for (const earlier of after[later] ?? []) {
      if (seen.has(earlier)) continue;
      seen.add(earlier);
      const holder = matched.get(earlier);
      if (holder === undefined || tryRow(holder, seen)) {
        matched.set(earlier, later);
        return true;
      }
    }
    return false;
  };
  let pairs = 0;
  for (const later of after.keys()) if (tryRow(later, new Set())) pairs += 1;
  return dependsOn.length - pairs;
}
