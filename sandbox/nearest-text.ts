/** Lines of the text sought that are compared: the longest, which say most. */
const comparedLines = 12;
/** Lines and characters that are shown. */
const shownLines = 40;
const shownCharacters = 4000;
/** Least likeness, 0 to 1, that is worth showing. */
const leastLikeness = 0.25;

/**
 * The part of `text` that is most like `wanted`, with line numbers; null where nothing is. Lines are compared by
 * the words they share, each window of as many lines as are sought.
 */
export function nearestText(text: string, wanted: string): { line: number; text: string } | null {
  const lines = text.split('\n');
  const sought = wanted.split('\n');
  while (sought.length > 1 && sought[0]?.trim() === '') sought.shift();
  while (sought.length > 1 && sought.at(-1)?.trim() === '') sought.pop();
  const compared = sought
    .map((line, offset) => ({ offset, bare: line.trim(), words: wordsOf(line) }))
    .filter(({ bare }) => bare !== '')
    .sort((a, b) => b.bare.length - a.bare.length || a.offset - b.offset)
    .slice(0, comparedLines);
  if (compared.length === 0) return null;
  const bare = lines.map((line) => line.trim());
  const words = lines.map(wordsOf);

  let best = { at: -1, likeness: leastLikeness };
  const last = Math.max(0, lines.length - sought.length);
  for (let at = 0; at <= last; at += 1) {
    let sum = 0;
    for (const line of compared) {
      const other = at + line.offset;
      if (bare[other] === line.bare) sum += 1;
      else sum += shared(line.words, words[other] ?? none);
    }
    const likeness = sum / compared.length;
    if (likeness > best.likeness) best = { at, likeness };
  }
  if (best.at === -1) return null;
  const shown = lines.slice(best.at, best.at + Math.min(sought.length, shownLines));
  const numbered = shown.map((line, index) => `${best.at + index + 1}: ${line.replace(/\r$/, '')}`);
  return { line: best.at + 1, text: numbered.join('\n').slice(0, shownCharacters) };
}

const none: ReadonlySet<string> = new Set();

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.slice(0, 1000).match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu));
}

/** Jaccard's coefficient, 0.9 at most: only equal lines are fully alike. */
function shared(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let both = 0;
  for (const word of one) if (other.has(word)) both += 1;
  const all = one.size + other.size - both;
  return all === 0 ? 0 : (0.9 * both) / all;
}
