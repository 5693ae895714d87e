/** Lines of an address as the post wants them. */
export function addressLines({ name, street, zip, city, country }) {
  const lines = [name, street, `${zip} ${city}`];
  if (country !== undefined && country !== 'DE') lines.push(country.toUpperCase());
  return lines;
}
