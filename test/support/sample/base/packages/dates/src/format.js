const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (number) => String(number).padStart(2, '0');

/** `iso`: 2026-02-03; `short`: 3 Feb 2026; `german`: 03.02.2026. */
export function formatDate({ year, month, day }, style = 'iso') {
  if (style === 'short') return `${day} ${names[month - 1]} ${year}`;
  if (style === 'german') return `${two(day)}.${two(month)}.${year}`;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}
