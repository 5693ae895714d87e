import { createHash } from 'node:crypto';

/** SHA-256 of what is to be on GitHub, hex: equal content is not sent again. */
export function contentFingerprint(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
