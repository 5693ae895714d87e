import type { Triage } from './triage.ts';

/** Labels by words, without a model. Matching takes time in proportion to the text: there are no expressions. */

export interface TriageRule {
  /** Words or phrases of which one must be there; `*` stands for any characters within a word. */
  readonly match: readonly string[];
  readonly labels: readonly string[];
}

/** Characters of title and body that are looked at, and of one word. */
const maxText = 20_000;
const maxWord = 100;
const maxLabels = 10;

/** The labels of every rule that fits, in the order of the rules, each once. */
export function labelsByRules(
  rules: readonly TriageRule[],
  { title, body }: { readonly title: string; readonly body: string },
): string[] {
  // No phrase reaches from the title into the body.
  const texts = [title, body].map((text) => wordsOf(text.slice(0, maxText), ''));
  const fitting = rules.filter(({ match }) =>
    match.some((phrase) => {
      const pattern = wordsOf(phrase, '*');
      return pattern.length > 0 && texts.some((words) => hasPhrase(words, pattern));
    }),
  );
  return [...new Set(fitting.flatMap(({ labels }) => labels))].slice(0, maxLabels);
}

/** What a triage by rules alone found out. */
export function triageByRules(
  rules: readonly TriageRule[],
  text: { readonly title: string; readonly body: string },
): Triage {
  const labels = labelsByRules(rules, text);
  const summary =
    labels.length === 0
      ? 'No rule of the repository file fits this issue.'
      : 'Sorted by the rules of the repository file.';
  return { labels, duplicates: [], question: null, summary };
}

/**
 * The words of a text, in lower case: runs of letters, digits and what stands inside of words (`node.js`, `c++`,
 * `dead-lock`). `wild`: a further character that words may have.
 */
export function wordsOf(text: string, wild: '*' | ''): string[] {
  const between = wild === '*' ? /[^\p{L}\p{N}\p{M}_+#.*-]+/u : /[^\p{L}\p{N}\p{M}_+#.-]+/u;
  return text
    .normalize('NFKC')
    .toLowerCase()
    .split(between)
    .map((word) => trimWord(word.slice(0, maxWord)))
    .filter((word) => word !== '');
}

/** Without the punctuation around it. What ends in `+` or `#` is so named. */
function trimWord(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && '._-+#'.includes(word[start] ?? '')) start += 1;
  while (end > start && '._-'.includes(word[end - 1] ?? '')) end -= 1;
  return word.slice(start, end);
}

function hasPhrase(words: readonly string[], pattern: readonly string[]): boolean {
  for (let at = 0; at + pattern.length <= words.length; at += 1) {
    if (pattern.every((word, index) => wordFits(words[at + index] ?? '', word))) return true;
  }
  return false;
}

/** Whether a word has the shape. Goes back to the last `*` alone, so at most length times length steps. */
export function wordFits(word: string, shape: string): boolean {
  let [at, inShape] = [0, 0];
  let star = -1;
  let from = 0;
  while (at < word.length) {
    if (shape[inShape] === '*') {
      star = inShape;
      from = at;
      inShape += 1;
    } else if (shape[inShape] === word[at]) {
      at += 1;
      inShape += 1;
    } else if (star === -1) return false;
    else {
      from += 1;
      at = from;
      inShape = star + 1;
    }
  }
  while (shape[inShape] === '*') inShape += 1;
  return inShape === shape.length;
}
