import { createHash } from 'node:crypto';

/**
 * Text that others wrote, between two lines that it cannot contain: the mark is the text's own digest, which no
 * author can place inside the text. The same text always gives the same fence, so prompts stay cacheable.
 */
export function fenceData(label: string, text: string): string {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `<<<DATA ${label} ${mark}\n${text}\nDATA ${mark}>>>`;
}
