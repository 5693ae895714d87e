import { compareDates } from './compare.js';

/** Whole days from one date to another; negative backwards. */
export function daysBetween(from, to) {
  return compareDates(to, from);
}
