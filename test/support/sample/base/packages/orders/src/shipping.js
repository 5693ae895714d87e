import { amount } from '../../money/src/index.js';

const steps = [
  { grams: 500, minor: 390 },
  { grams: 2000, minor: 590 },
  { grams: 10_000, minor: 990 },
];

/** By weight; free above 50 €. */
export function shippingCost(lines, total) {
  if (total.minor >= 5000) return amount(0, total.currency);
  const grams = lines.reduce((sum, line) => sum + line.grams * line.count, 0);
  const step = steps.find((candidate) => grams <= candidate.grams);
  if (step === undefined) throw new RangeError(`too heavy to send: ${grams} g`);
  return amount(step.minor, total.currency);
}
