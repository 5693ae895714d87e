const dayMs = 86_400_000;

/** Days since 1970-01-01. */
export function toDayNumber({ year, month, day }) {
  return Date.UTC(year, month - 1, day) / dayMs;
}

export function fromDayNumber(number) {
  const date = new Date(number * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
