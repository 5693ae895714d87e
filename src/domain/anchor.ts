import type { FileChange } from './change.ts';
import type { Finding } from './finding.ts';

/** Where findings are anchored: in the diff (for inline comments) and in the text (for being true at all). */

export type Side = Finding['side'];

/**
 * Whether GitHub takes a comment on these lines: all of them in ONE hunk of the diff. RIGHT counts context
 * and added lines by their number in the new file, LEFT context and deleted lines by that in the old.
 */
export function anchorInDiff(change: FileChange, side: Side, startLine: number, endLine: number): boolean {
  if (startLine < 1 || endLine < startLine) return false;
  return change.hunks.some((hunk) => {
    const [first, count] = side === 'RIGHT' ? [hunk.newStart, hunk.newLines] : [hunk.oldStart, hunk.oldLines];
    return startLine >= first && endLine < first + count;
  });
}

export type Relocation =
  | { readonly finding: Finding }
  /** Why the finding is not believed, in words for the agent that reported it. */
  | { readonly refused: string };

/** A quote that is not where the finding says it is may be this many lines away, where it occurs more than once. */
export const relocationReach = 20;

/**
 * Holds a finding against the text. It is valid only if its quote exists: at the stated lines; else at the
 * only place in the file where it occurs; else at the one nearest place within {@link relocationReach} lines,
 * and the anchor moves there. Trailing white space (and `\r`) is not compared.
 *
 * `newLines` is the whole new file (see `splitLines`); null: only lines of the diff are known. A LEFT
 * finding must quote deleted lines. The finding that comes back quotes the lines as they are and spans
 * exactly them; a replacement made for another number of lines is dropped.
 */
export function relocate(
  finding: Finding,
  change: FileChange,
  newLines: readonly string[] | null,
): Relocation {
  if (finding.path !== change.path) return { refused: 'the file is not part of the change' };
  const lines = finding.side === 'LEFT' ? deletedLines(change) : knownLines(change, newLines);
  const span = finding.endLine - finding.startLine + 1;
  const quote = quotedLines(finding.quote, span);
  const place = placeOf(quote, lines, finding.startLine);
  if (typeof place !== 'number') return place;
  const endLine = place + quote.length - 1;
  const text = quote.map((_, index) => withoutCr(lines.get(place + index) ?? ''));
  return {
    finding: {
      ...finding,
      startLine: place,
      endLine,
      quote: text.join('\n'),
      replacement: quote.length === span ? finding.replacement : null,
    },
  };
}

function placeOf(
  quote: readonly string[],
  lines: ReadonlyMap<number, string>,
  stated: number,
): number | { refused: string } {
  const occursAt = (start: number) =>
    quote.every((text, index) => lines.get(start + index)?.trimEnd() === text);
  if (occursAt(stated)) return stated;
  // Blank lines are everywhere: a quote of nothing but those says nothing about another place.
  if (quote.every((text) => text === '')) return { refused: 'the quote is blank' };
  const places = [...lines.keys()].filter(occursAt);
  const [first] = places;
  if (first === undefined) return { refused: 'the quoted text does not exist in the file' };
  if (places.length === 1) return first;
  const distance = (line: number) => Math.abs(line - stated);
  const least = places.reduce((best, line) => Math.min(best, distance(line)), Number.POSITIVE_INFINITY);
  const nearest = places.filter((line) => distance(line) === least);
  if (least > relocationReach || nearest.length > 1 || nearest[0] === undefined) {
    return { refused: `the quoted text occurs ${places.length} times, and not at the stated line` };
  }
  return nearest[0];
}

/** The quote's lines, ready to be compared. A `\n` that merely ends the last of `span` lines is no line. */
function quotedLines(quote: string, span: number): string[] {
  const lines = quote.split('\n');
  if (lines.length === span + 1 && lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.trimEnd());
}

function deletedLines(change: FileChange): Map<number, string> {
  const lines = new Map<number, string>();
  for (const hunk of change.hunks) {
    for (const line of hunk.lines) {
      if (line.kind === 'deleted' && line.oldLine !== null) lines.set(line.oldLine, line.text);
    }
  }
  return lines;
}

function knownLines(change: FileChange, newLines: readonly string[] | null): Map<number, string> {
  if (newLines !== null) return new Map(newLines.map((text, index) => [index + 1, text]));
  const lines = new Map<number, string>();
  for (const hunk of change.hunks) {
    for (const line of hunk.lines) if (line.newLine !== null) lines.set(line.newLine, line.text);
  }
  return lines;
}

function withoutCr(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
