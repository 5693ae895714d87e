import { addDays } from './add.js';
import { compareDates } from './compare.js';

/** Every day from `from` to `to`, both included. */
export function* eachDay(from, to) {
  for (let day = from; compareDates(day, to) <= 0; day = addDays(day, 1)) yield day;
}
