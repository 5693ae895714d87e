/** A sorted copy, by one or more keys. */
export function sortBy(items, ...keys) {
  return items.toSorted((a, b) => {
    for (const key of keys) {
      const [left, right] = [key(a), key(b)];
      if (left < right) return -1;
      if (left > right) return 1;
    }
    return 0;
  });
}
