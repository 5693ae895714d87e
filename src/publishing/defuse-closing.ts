const part = '\u200b';

/** Words with which a text closes an issue once it is merged, before what may name one. */
const closing =
  /\b(clos(?:e[sd]?)|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+[`*_[(<]*(?:https?:|gh-\d|#|[\w.-]+\/[\w.-]+#))/gi;

/** Keeps words from outside from closing issues when what holds them is merged. The text reads the same. */
export function defuseClosing(text: string): string {
  return text.replace(closing, `$1${part}`);
}
