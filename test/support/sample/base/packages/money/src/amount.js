import { currencyOf } from './currency.js';

/** An amount in minor units, e.g. `amount(250, 'EUR')` for 2.50 €. */
export function amount(minor, currency) {
  if (!Number.isSafeInteger(minor)) throw new RangeError(`minor units must be an integer, got ${minor}`);
  currencyOf(currency);
  return Object.freeze({ minor, currency });
}

export function isAmount(value) {
  return Number.isSafeInteger(value?.minor) && typeof value.currency === 'string';
}
