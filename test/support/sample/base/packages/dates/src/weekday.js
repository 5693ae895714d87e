import { toDayNumber } from './day-number.js';

/** 1 (Monday) to 7 (Sunday). 1970-01-01 was a Thursday. */
export function weekday(date) {
  return ((((toDayNumber(date) + 3) % 7) + 7) % 7) + 1;
}
