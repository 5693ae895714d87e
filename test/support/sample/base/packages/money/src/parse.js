import { amount } from './amount.js';
import { currencyOf } from './currency.js';

/** `2.5` in a currency; more digits than it has are an error. */
export function parseAmount(text, currency) {
  const { digits } = currencyOf(currency);
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (match === null) throw new RangeError(`not an amount: ${text}`);
  const [, sign, whole, fraction = ''] = match;
  if (fraction.length > digits) throw new RangeError(`${currency} has ${digits} digits: ${text}`);
  const minor = Number(whole + fraction.padEnd(digits, '0'));
  return amount(sign === '-' ? -minor : minor, currency);
}
