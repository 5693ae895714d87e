import { add, multiply } from './arithmetic.js';

/** Tax on a net amount; the rate is a percentage. */
export function taxOf(net, rate) {
  return multiply(net, rate / 100);
}

export function grossOf(net, rate) {
  return add(net, taxOf(net, rate));
}
