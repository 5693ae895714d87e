/** Items a verification is asked about, in their order. */
export type Question<T> = readonly T[];

/**
 * Finds out which of `items` make a check fail, of which is known that it passes without any of them and fails with
 * all. Yields the items to check, each time in order, and is told whether they passed; returns the culprits in
 * order. What is left without them has passed, or is empty.
 *
 * The first item with which a growing row of items fails is a culprit; it is taken out and the search goes on behind
 * it. Of items that fail only together, the last is left out. k culprits of n items take at most
 * k * (ceil(log2 n) + 1) questions, whatever the answers.
 */
export function* bisect<T>(items: readonly T[]): Generator<Question<T>, T[], boolean> {
  const culprits: T[] = [];
  let good: readonly T[] = [];
  let rest = items;
  while (rest.length > 0) {
    // `good` with the first `low` of the rest passes, with the first `high` it fails.
    let low = 0;
    let high = rest.length;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (yield [...good, ...rest.slice(0, middle)]) low = middle;
      else high = middle;
    }
    culprits.push(...rest.slice(low, high));
    good = [...good, ...rest.slice(0, low)];
    rest = rest.slice(high);
    if (rest.length === 0 || (yield [...good, ...rest])) break;
  }
  return culprits;
}
