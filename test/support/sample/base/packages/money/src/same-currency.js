/** Amounts of two currencies are never mixed silently. */
export function sameCurrency(a, b) {
  if (a.currency !== b.currency) throw new TypeError(`cannot mix ${a.currency} and ${b.currency}`);
  return a.currency;
}
