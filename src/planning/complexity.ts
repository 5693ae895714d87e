import type { FileChange } from '../domain/change.ts';

/**
 * How much work it is to review a file's change, as a number without unit: what shards are balanced by.
 * Knows no language: nesting is read from indentation and brackets, imports from how lines begin.
 *
 * | part | weight | why |
 * |---|---|---|
 * | file | 4 | each file is opened and understood, however small its change |
 * | added line | 1 | the unit |
 * | deleted line | 0.5 | read, but there is nothing left to be wrong in |
 * | hunk | 2 | each place is looked up in its surroundings |
 * | nesting | 0.25 for each level beyond 1 of an added line, at most 8 levels | branches in branches take longest |
 * | import added or deleted | 2 | a changed dependency is looked up elsewhere |
 * | import of the file | 0.25, at most 10 in all | known with `newText`: what the reader must know of |
 *
 * A whole number, at least 1.
 */
export function complexityOf(change: FileChange, newText?: string): number {
  let score = weights.file + weights.hunk * change.hunks.length;
  for (const { kind, level, isImport } of changedLines(change)) {
    if (isImport) score += weights.changedImport;
    if (kind === 'deleted') score += weights.deleted;
    else score += weights.added + weights.level * Math.min(Math.max(level - 1, 0), deepest);
  }
  if (newText !== undefined) {
    const imports = newText.split('\n').filter((line) => importLine.test(line)).length;
    score += Math.min(imports * weights.ownImport, 10);
  }
  return Math.max(1, Math.round(score));
}

/** Of the changed lines of some files: how many, the deepest level of nesting, and how many import something. */
export function shapeOf(changes: readonly FileChange[]): { lines: number; nesting: number; imports: number } {
  const lines = changes.flatMap((change) => [...changedLines(change)]);
  const levels = lines.map(({ level }) => level);
  return {
    lines: lines.length,
    nesting: Math.round(levels.reduce((most, level) => Math.max(most, level), 0)),
    imports: lines.filter(({ isImport }) => isImport).length,
  };
}

function* changedLines(
  change: FileChange,
): Generator<{ readonly kind: 'added' | 'deleted'; readonly level: number; readonly isImport: boolean }> {
  const unit = indentUnit(change);
  for (const hunk of change.hunks) {
    let brackets = 0;
    for (const { kind, text } of hunk.lines) {
      const closing = /^[\s)\]}]*/.exec(text)?.[0].replace(/\s/g, '').length ?? 0;
      const level = Math.max(indentation(text) / unit, brackets - closing);
      if (kind !== 'deleted') brackets = Math.max(0, brackets + balance(text));
      if (kind !== 'context') yield { kind, level, isImport: importLine.test(text) };
    }
  }
}

const weights = { file: 4, added: 1, deleted: 0.5, hunk: 2, level: 0.25, changedImport: 2, ownImport: 0.25 };
const deepest = 8;

const importLine =
  /^\s*(?:import\b|from\s+\S+\s+import\b|export\s.*\sfrom\s|#\s*include\b|using\s+[\w.:]+\s*;|use\s+[\w:]+|require(?:_relative)?\b|(?:const|let|var)\s.*=\s*require\()/;

/** Columns of white space at the start; a tab counts as four. */
function indentation(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (char === ' ') columns += 1;
    else if (char === '\t') columns += 4;
    else return columns;
  }
  return 0;
}

/** Columns of one level: the least indentation of the change, between 2 and 8; 4 where there is none. */
function indentUnit(change: FileChange): number {
  let least = Number.POSITIVE_INFINITY;
  for (const hunk of change.hunks) {
    for (const line of hunk.lines) {
      const columns = indentation(line.text);
      if (columns >= 2) least = Math.min(least, columns);
    }
  }
  return least <= 8 ? least : 4;
}

/** Brackets opened less those closed. Those in strings count too: wrong now and then, the same each time. */
function balance(text: string): number {
  let open = 0;
  for (const char of text) {
    if (char === '(' || char === '[' || char === '{') open += 1;
    else if (char === ')' || char === ']' || char === '}') open -= 1;
  }
  return open;
}
