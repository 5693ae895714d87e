import { daysInMonth } from './month.js';

/** `2026-02-28` as `{ year, month, day }`; anything else is an error. */
export function parseDate(text) {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) throw new RangeError(`not a date: ${text}`);
  const [year, month, day] = match.slice(1).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) {
    throw new RangeError(`no such day: ${text}`);
  }
  return { year, month, day };
}
