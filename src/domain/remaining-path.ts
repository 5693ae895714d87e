/**
 * Complexity of the heaviest chain that begins with each row: what starts first so that the whole ends early.
 * `dependsOn` holds positions. Rows on a cycle, which no plan that was validated has, count themselves alone.
 */
export function remainingPaths(
  rows: readonly { readonly complexity: number; readonly dependsOn: readonly number[] }[],
): number[] {
  const lengths = rows.map(({ complexity }) => complexity);
  const dependants = rows.map(() => 0);
  for (const { dependsOn } of rows) for (const on of dependsOn) dependants[on] = (dependants[on] ?? 0) + 1;
  // From the ends backwards: a row is taken once all that depends on it has been.
  const free = rows.flatMap((_, index) => (dependants[index] === 0 ? [index] : []));
  for (let index = free.pop(); index !== undefined; index = free.pop()) {
    for (const on of rows[index]?.dependsOn ?? []) {
      const through = (rows[on]?.complexity ?? 0) + (lengths[index] ?? 0);
      lengths[on] = Math.max(lengths[on] ?? 0, through);
      dependants[on] = (dependants[on] ?? 0) - 1;
      if (dependants[on] === 0) free.push(on);
    }
  }
  return lengths;
}
