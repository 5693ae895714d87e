import { amount } from './amount.js';

/** Splits an amount by weights without losing a cent: the largest remainders get one more. */
export function allocate(whole, weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0)) throw new RangeError('weights must have a positive sum');
  const exact = weights.map((weight) => (whole.minor * weight) / total);
  const parts = exact.map(Math.floor);
  let left = whole.minor - parts.reduce((sum, part) => sum + part, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, rest: value - parts[index] }))
    .toSorted((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder) {
    if (left <= 0) break;
    parts[index] += 1;
    left -= 1;
  }
  return parts.map((part) => amount(part, whole.currency));
}
