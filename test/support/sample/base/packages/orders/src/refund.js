import { compareAmounts, subtract } from '../../money/src/index.js';

/** Pays back a part of an order; never more than was paid. */
export function refund(order, value) {
  if (compareAmounts(value, order.paid) > 0) throw new RangeError('more than was paid');
  return { ...order, paid: subtract(order.paid, value) };
}
