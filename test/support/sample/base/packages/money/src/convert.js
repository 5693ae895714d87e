import { amount } from './amount.js';
import { currencyOf } from './currency.js';
import { roundHalfEven } from './round.js';

/** `rate`: how much one major unit of the source is worth in the target. */
export function convert(source, target, rate) {
  if (!(rate > 0)) throw new RangeError(`rate must be positive, got ${rate}`);
  const shift = 10 ** (currencyOf(target).digits - currencyOf(source.currency).digits);
  return amount(roundHalfEven(source.minor * rate * shift), target);
}
