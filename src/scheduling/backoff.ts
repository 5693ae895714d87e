const baseMs = 1000;
const maxMs = 30_000;

/**
 * Pause before the next try, milliseconds: 1 s, 2 s, 4 s ... at most 30 s, shortened by up to a half. By how much
 * follows from the row, so that rows that failed together do not come back together, and a decision is repeatable.
 */
export function backoffMs(id: string, failures: number): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.max(0, failures - 1));
  return Math.round(whole * (1 - fraction(`${id}:${failures}`) / 2));
}

/** 0 to below 1, by the text alone: FNV-1a with a last mix, since near texts would give near numbers. */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
