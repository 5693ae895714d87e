/** A name for an address: lower case, no accents, hyphens between words. */
export function slugify(text, { maxLength = 60 } = {}) {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/ß/g, 'ss').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  if (slug.length <= maxLength) return slug;
  const cut = slug.slice(0, maxLength + 1);
  const end = cut.lastIndexOf('-');
  return end > 0 ? cut.slice(0, end) : slug.slice(0, maxLength);
}
