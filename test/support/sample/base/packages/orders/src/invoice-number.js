/** `2026-000042`: counted through within a year. */
export function invoiceNumber(year, count) {
  return `${year}-${String(count).padStart(6, '0')}`;
}
