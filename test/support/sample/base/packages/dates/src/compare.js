import { toDayNumber } from './day-number.js';

export function compareDates(a, b) {
  return toDayNumber(a) - toDayNumber(b);
}

export function sameDate(a, b) {
  return compareDates(a, b) === 0;
}
