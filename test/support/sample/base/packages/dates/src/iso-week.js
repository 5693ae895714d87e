import { addDays } from './add.js';
import { daysBetween } from './days-between.js';
import { weekday } from './weekday.js';

/** Week and its year: the week belongs to the year of its Thursday. */
export function isoWeek(date) {
  const thursday = addDays(date, 4 - weekday(date));
  const first = { year: thursday.year, month: 1, day: 1 };
  return { year: thursday.year, week: Math.floor(daysBetween(first, thursday) / 7) + 1 };
}
