/** Characters of a provider's error text that are kept. */
const keptCharacters = 400;

/**
 * An error text of a provider, fit for logs and pages: one line, capped, without anything that looks like a
 * key. Providers do quote keys (`Incorrect API key provided: sk-...`), and proxies echo whole headers.
 */
export function redactError(text: string, key: string): string {
  const withoutKey = key === '' ? text : text.replaceAll(key, '[key]');
  const clean = withoutKey
    .replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, '$1 [key]')
    .replace(/\b(?:sk|pk|rk|gsk|ghs|ghp|xai|hf)[-_][A-Za-z0-9_*.-]{4,}/g, '[key]')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return clean.length > keptCharacters ? `${clean.slice(0, keptCharacters).toWellFormed()}…` : clean;
}
