/** The object that a text is in JSON; null: it is no JSON, or something else. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const plain = typeof value === 'object' && value !== null && !Array.isArray(value);
    return plain ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The same of a package.json: npm passes over a byte order mark. */
export const packageJson = (text: string): Record<string, unknown> | null =>
  jsonObject(text.replace(/^\uFEFF/, ''));
