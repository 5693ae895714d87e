import { addBusinessDays, isBusinessDay } from '../../dates/src/index.js';

/** Ordered before noon it leaves the same day, else the next; two business days on the way. */
export function deliveryDate(orderedOn, hour) {
  const leavesToday = hour < 12 && isBusinessDay(orderedOn);
  return addBusinessDays(orderedOn, leavesToday ? 2 : 3);
}
