import { fromDayNumber, toDayNumber } from './day-number.js';
import { daysInMonth } from './month.js';

export function addDays(date, days) {
  if (!Number.isInteger(days)) throw new RangeError('days must be whole');
  return fromDayNumber(toDayNumber(date) + days);
}

/** The same day of a later month, or its last day. */
export function addMonths(date, months) {
  const index = date.year * 12 + date.month - 1 + months;
  const year = Math.floor(index / 12);
  const month = (index % 12) + 1;
  return { year, month, day: Math.min(date.day, daysInMonth(year, month)) };
}
