/** Postgres stores any text but U+0000. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
