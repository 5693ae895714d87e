/**
 * Text of models and tools as it can be stored: Postgres takes no NUL, and neither it nor GitHub half a
 * character. `limit` is in UTF-16 units.
 */
export function cleanText(text: string, limit: number = Number.POSITIVE_INFINITY): string {
  return text.replaceAll('\0', '').slice(0, limit).toWellFormed();
}

/** The same, on one line. */
export function oneLine(text: string, limit: number): string {
  return cleanText(text.replaceAll('\0', '').replace(/\s+/g, ' ').trim(), limit);
}
