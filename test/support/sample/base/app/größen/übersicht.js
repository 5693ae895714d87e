/** Sizes in which tea is sold, grams. */
export const größen = [50, 100, 250, 1000];

export function beschriftung(gramm) {
  return gramm >= 1000 ? `${gramm / 1000} kg` : `${gramm} g`;
}
