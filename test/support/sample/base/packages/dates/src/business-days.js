import { addDays } from './add.js';
import { sameDate } from './compare.js';
import { holidaysOf } from './holidays.js';
import { weekday } from './weekday.js';

export function isBusinessDay(date) {
  if (weekday(date) > 5) return false;
  return !holidaysOf(date.year).some((holiday) => sameDate(holiday, date));
}

export function addBusinessDays(date, count) {
  let day = date;
  for (let left = count; left > 0; ) {
    day = addDays(day, 1);
    if (isBusinessDay(day)) left -= 1;
  }
  return day;
}
