import { currencyOf } from './currency.js';

/** `2.50 €`; digits as the currency has them. */
export function formatAmount({ minor, currency }) {
  const { digits, symbol } = currencyOf(currency);
  const sign = minor < 0 ? '-' : '';
  const text = String(Math.abs(minor)).padStart(digits + 1, '0');
  if (digits === 0) return `${sign}${text} ${symbol}`;
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)} ${symbol}`;
}
