import { addDays } from './add.js';
import { easter } from './easter.js';

/** Days on which the shop is closed. */
export function holidaysOf(year) {
  const sunday = easter(year);
  return [
    { year, month: 1, day: 1 },
    addDays(sunday, -2),
    addDays(sunday, 1),
    { year, month: 5, day: 1 },
    { year, month: 12, day: 25 },
    { year, month: 12, day: 26 },
  ];
}
