import { sameCurrency } from './same-currency.js';

export function compareAmounts(a, b) {
  sameCurrency(a, b);
  return a.minor - b.minor;
}

export function isZero(a) {
  return a.minor === 0;
}
