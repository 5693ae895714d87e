import type { FileChange } from '../domain/change.ts';
import { type Finding, fingerprint } from '../domain/finding.ts';
import { cleanText, oneLine } from './clean-text.ts';
import type { RawResult } from './raw-result.ts';

export interface PlacedResults {
  /** On lines of the change, in the order of the output, each once. */
  readonly findings: readonly Finding[];
  /** In files that are no inputs, or on lines that the change does not touch. */
  readonly outside: number;
  /** On lines that do not exist. */
  readonly refused: number;
}

/**
 * Findings of the results of a deterministic tool. A review of a change reports what lies in its hunks; the rest
 * is counted. The quote is the text of the file itself.
 */
export function placeResults(
  results: readonly RawResult[],
  changes: readonly FileChange[],
  files: ReadonlyMap<string, readonly string[] | null>,
): PlacedResults {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const findings = new Map<string, Finding>();
  let outside = 0;
  let refused = 0;
  for (const result of results) {
    const change = byPath.get(result.path);
    if (change === undefined || !touches(change, result)) {
      outside += 1;
      continue;
    }
    const finding = toFinding(result, change, files.get(result.path) ?? null);
    if (finding === null) {
      refused += 1;
      continue;
    }
    // The same rule twice on one line, with different words, is two findings of a linter and one of ours.
    const key = fingerprint(finding) + finding.startLine;
    if (!findings.has(key)) findings.set(key, finding);
  }
  return { findings: [...findings.values()], outside, refused };
}

function touches(change: FileChange, result: RawResult): boolean {
  return change.hunks.some(
    (hunk) => result.startLine < hunk.newStart + hunk.newLines && result.endLine >= hunk.newStart,
  );
}

function toFinding(result: RawResult, change: FileChange, lines: readonly string[] | null): Finding | null {
  // A suggestion replaces the lines that it is anchored to, so a fix of more lines widens the anchor.
  const fix =
    result.fix !== null && result.fix.startLine <= result.startLine && result.fix.endLine >= result.endLine
      ? result.fix
      : null;
  const { startLine, endLine } = fix ?? result;
  const quote = quoteOf(change, lines, startLine, endLine);
  if (quote === null) return null;
  return {
    path: change.path,
    side: 'RIGHT',
    startLine,
    endLine,
    severity: result.severity,
    confidence: 1,
    rule: oneLine(result.rule, 100) || 'finding',
    title: oneLine(result.message, 300) || 'a problem without a message',
    body: oneLine(result.message, 300) === result.message ? '' : cleanText(result.message, 20_000),
    quote,
    replacement: fix === null || fix.text.length > 20_000 ? null : cleanText(fix.text),
  };
}

/** The text of lines; of the diff alone where the file is not known whole. Null where there is no such line. */
function quoteOf(
  change: FileChange,
  lines: readonly string[] | null,
  startLine: number,
  endLine: number,
): string | null {
  const known = new Map<number, string>();
  if (lines === null) {
    for (const hunk of change.hunks) {
      for (const line of hunk.lines) if (line.newLine !== null) known.set(line.newLine, line.text);
    }
  }
  const quoted: string[] = [];
  for (let number = startLine; number <= endLine; number += 1) {
    const text = lines === null ? known.get(number) : lines[number - 1];
    // A line with a NUL cannot be stored, hence not quoted.
    if (text === undefined || text.includes('\0')) return null;
    quoted.push(text.replace(/\r$/, ''));
  }
  return quoted.join('\n');
}
