import type { DiffLine, FileChange } from '../domain/change.ts';

/** Characters of one line that are shown; minified code would otherwise fill the context. */
const shownCharacters = 1000;
const numberWidth = 6;

const signs: Record<DiffLine['kind'], string> = { context: ' ', added: '+', deleted: '-' };

/**
 * A change as a model reads it: each line with its number in the old and in the new file, so that nobody has to
 * count from a hunk header (models count badly). A line is
 * `<old number> <new number> <sign>|<text>`, numbers right-aligned in six columns, blank where there is none.
 */
export function renderChange(change: FileChange): string {
  const name = JSON.stringify(change.path);
  const from = change.oldPath === null ? '' : ` from ${JSON.stringify(change.oldPath)}`;
  const head = `FILE ${name} (${change.status.replace('_', ' ')}${from}, +${change.additions} -${change.deletions})`;
  if (change.binary) return `${head}\n(binary: no lines to show)`;
  if (change.hunks.length === 0) return `${head}\n(no line changed)`;
  const hunks = change.hunks.map((hunk) =>
    [
      `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
      ...hunk.lines.map(renderLine),
    ].join('\n'),
  );
  return [head, ...hunks].join('\n');
}

function renderLine(line: DiffLine): string {
  return `${column(line.oldLine)} ${column(line.newLine)} ${signs[line.kind]}|${shorten(line.text)}`;
}

function column(number: number | null): string {
  return String(number ?? '').padStart(numberWidth);
}

function shorten(text: string): string {
  if (text.length <= shownCharacters) return text;
  return `${text.slice(0, shownCharacters).toWellFormed()} [... ${text.length - shownCharacters} more characters]`;
}
