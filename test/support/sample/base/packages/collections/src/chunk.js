/** Cuts a list into pieces of `size`. */
export function chunk(items, size) {
  if (!Number.isInteger(size) || size < 1) throw new RangeError(`size must be at least 1, got ${size}`);
  const pieces = [];
  for (let at = 0; at < items.length; at += size) pieces.push(items.slice(at, at + size));
  return pieces;
}
