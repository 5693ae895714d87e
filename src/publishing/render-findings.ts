import { anchorInDiff } from '../domain/anchor.ts';
import type { FileChange } from '../domain/change.ts';
import type { Finding } from '../domain/finding.ts';
import { codeSpan, cut, defuseMarkdown, head, plainLine, plainText } from './defuse.ts';
import { capMarkdown, codeBlock, maxBody } from './fit-markdown.ts';

/** Findings as GitHub shows them: inline comments, entries of a body, annotations. Pure. */

export interface InlineComment {
  readonly path: string;
  readonly body: string;
  readonly side: 'LEFT' | 'RIGHT';
  readonly line: number;
  /** Left out when the comment is on one line. */
  readonly start_line?: number;
  readonly start_side?: 'LEFT' | 'RIGHT';
}

export interface Annotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly annotation_level: 'failure' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
  readonly raw_details: string;
}

const cutNotice = '\n\n*The rest of this text was cut: it is too long for GitHub.*';

/** Null where GitHub would refuse the anchor: the finding belongs into the body then. */
export function inlineComment(
  finding: Finding,
  changes: ReadonlyMap<string, FileChange>,
): InlineComment | null {
  const change = changes.get(finding.path);
  if (change === undefined || !anchored(finding, change)) return null;
  const { path, side, startLine, endLine } = finding;
  const range = startLine === endLine ? {} : { start_line: startLine, start_side: side };
  return { path, side, line: endLine, ...range, body: inlineBody(finding) };
}

/** Deletions alone are on the left: GitHub shows context lines on the right. */
function anchored(finding: Finding, change: FileChange): boolean {
  const { side, startLine, endLine } = finding;
  if (!anchorInDiff(change, side, startLine, endLine)) return false;
  if (side === 'RIGHT') return true;
  const deleted = new Set(
    change.hunks.flatMap((hunk) => hunk.lines.filter((l) => l.kind === 'deleted').map((l) => l.oldLine)),
  );
  for (let line = startLine; line <= endLine; line += 1) if (!deleted.has(line)) return false;
  return true;
}

/** Only for anchors in the diff, which is what makes a suggestion applicable. */
function inlineBody(finding: Finding): string {
  const title = `**${finding.severity}**: ${plainLine(finding.title, 300)}`;
  const rule = `<sub>Rule ${codeSpan(finding.rule, 100)}</sub>`;
  const applicable = finding.replacement !== null && finding.side === 'RIGHT';
  const suggestion = applicable
    ? `\n\n${codeBlock(finding.replacement?.toWellFormed() ?? '', 'suggestion')}`
    : '';
  const after = `${suggestion}\n\n${rule}`;
  // A suggestion is exact or it is not made: never cut.
  const fits = title.length + after.length + cutNotice.length + 2_000 <= maxBody;
  const tail = fits ? after : `\n\n*The suggestion is too long for GitHub.*\n\n${rule}`;
  const text = finding.body.trim() === '' ? '' : `\n\n${defuseMarkdown(finding.body)}`;
  return `${title}${capMarkdown(text, maxBody - title.length - tail.length, cutNotice)}${tail}`;
}

/** Length of one entry of a body: enough for any honest finding, and no finding crowds out the others. */
const maxEntry = 12_000;

/** A finding of a review's body. Its fences are closed. */
export function bodyFinding(finding: Finding): string {
  const title = `#### ${finding.severity}: ${plainLine(finding.title, 300)}`;
  const where = `${location(finding)} · rule ${codeSpan(finding.rule, 100)}`;
  const text = finding.body.trim() === '' ? '' : `\n\n${defuseMarkdown(finding.body)}`;
  const block = finding.replacement === null ? '' : codeBlock(finding.replacement.toWellFormed());
  const proposal = block === '' || block.length > maxEntry / 2 ? '' : `\n\nProposed replacement:\n\n${block}`;
  const before = `${title}\n${where}`;
  return `${before}${capMarkdown(text, maxEntry - before.length - proposal.length, cutNotice)}${proposal}`;
}

/** A finding of a list, on one line. */
export function findingLine(finding: Finding): string {
  return `- **${finding.severity}** ${location(finding)}: ${plainLine(finding.title, 300)}`;
}

function location({ path, side, startLine, endLine }: Finding): string {
  const lines = startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`;
  return `${codeSpan(path)} ${side === 'LEFT' ? 'deleted ' : ''}line ${lines}`;
}

const levels = { error: 'failure', warning: 'warning', note: 'notice' } as const;

/**
 * Null for findings on deleted lines: an annotation is always on the commit's own files. `raw_details` names
 * the finding, so that what was sent can be told from what was not.
 */
export function annotationOf(finding: Finding, fingerprint: string): Annotation | null {
  if (finding.side === 'LEFT') return null;
  const message = head(plainText(finding.body).trim() || plainText(finding.title), 8_000);
  return {
    path: finding.path,
    start_line: finding.startLine,
    end_line: finding.endLine,
    annotation_level: levels[finding.severity],
    title: cut(plainText(finding.title).replace(/\s+/g, ' ').trim() || finding.severity, 200),
    message: message === '' ? finding.severity : message,
    raw_details: annotationId(finding.rule, fingerprint),
  };
}

const idPattern = /^finding ([0-9a-f]{16})$/m;

function annotationId(rule: string, fingerprint: string): string {
  return `rule ${cut(plainText(rule).replace(/\s+/g, ' '), 100)}\nfinding ${fingerprint.slice(0, 16)}`;
}

/** What tells an annotation of ours on GitHub; null when it is none. */
export function idOfAnnotation(rawDetails: string | null | undefined): string | null {
  return idPattern.exec(rawDetails ?? '')?.[1] ?? null;
}
