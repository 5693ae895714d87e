import { amount } from './amount.js';
import { multiply, subtract } from './arithmetic.js';

/** A percentage or a fixed amount off; never below zero. */
export function applyDiscount(price, discount) {
  const off = discount.percent === undefined ? discount.off : multiply(price, discount.percent / 100);
  const rest = subtract(price, off);
  return rest.minor < 0 ? amount(0, price.currency) : rest;
}
