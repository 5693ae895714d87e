import { amount } from './amount.js';
import { roundHalfEven } from './round.js';
import { sameCurrency } from './same-currency.js';

export function add(a, b) {
  return amount(a.minor + b.minor, sameCurrency(a, b));
}

export function subtract(a, b) {
  return amount(a.minor - b.minor, sameCurrency(a, b));
}

export function negate(a) {
  return amount(-a.minor, a.currency);
}

export function multiply(a, factor) {
  return amount(roundHalfEven(a.minor * factor), a.currency);
}

export function sum(amounts, currency) {
  return amounts.reduce(add, amount(0, currency));
}
