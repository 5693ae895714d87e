import type { FileChange } from '../domain/change.ts';
import { type Finding, fingerprint, mergeFindings } from '../domain/finding.ts';
import type { TaskView } from '../store/port/views.ts';
import type { FindingRow } from '../store/port.ts';
import { countBySeverity, mergedFindings, plural } from './conclude.ts';
import { fitItems, maxBody } from './fit-markdown.ts';
import { bodyFinding, type InlineComment, inlineComment } from './render-findings.ts';
import { failures } from './render-section.ts';

/** A review as it is to be posted, and what its row remembers of it. */
export interface ReviewDraft {
  readonly body: string;
  readonly comments: readonly InlineComment[];
  readonly inBody: number;
  /** Findings that neither fitted inline nor in the body: counted in the body. */
  readonly leftOut: number;
  readonly known: number;
  /** Fingerprints of everything the review shows, so that later reviews do not repeat it. */
  readonly published: readonly string[];
}

/** Inline comments of one review. Beyond it a page is unreadable and GitHub slow; the rest goes into the body. */
export const maxInline = 100;

export function reviewMarker(taskId: string): string {
  return `<!-- patchfleet:review:${taskId} -->`;
}

/**
 * The findings of the task that no earlier review of the pull request showed: inline where the anchor is in the
 * diff, the rest in the body, what does not fit counted. `changes` null: the diff is not known, nothing is
 * inline. Null when there is nothing new to say.
 */
export function planReview(
  view: TaskView,
  known: ReadonlySet<string>,
  changes: readonly FileChange[] | null,
): ReviewDraft | null {
  const fresh = view.findings.filter((row) => !known.has(row.fingerprint));
  const findings = mergedFindings(fresh);
  if (findings.length === 0) return null;
  const repeated = knownCount(view, known);
  const byPath = new Map((changes ?? []).map((change) => [change.path, change]));
  const comments: InlineComment[] = [];
  const rest: Finding[] = [];
  for (const finding of findings) {
    const comment = comments.length < maxInline ? inlineComment(finding, byPath) : null;
    if (comment === null) rest.push(finding);
    else comments.push(comment);
  }
  const { text, shown } = fitItems({
    before: opening(view, findings, comments.length, repeated),
    items: rest.map(bodyFinding),
    after: `\n\n<sub>Task ${view.task.id}</sub>`,
    gap: '\n\n',
    max: maxBody,
    more: (left) => `*${plural(left, 'more finding')} did not fit here; the check run lists them.*`,
  });
  return {
    body: text,
    comments,
    inBody: shown,
    leftOut: rest.length - shown,
    known: repeated,
    published: fingerprintsWithout(fresh, rest.slice(shown)),
  };
}

/** How many findings of the task an earlier review showed. */
export function knownCount(view: TaskView, known: ReadonlySet<string>): number {
  const rows = view.findings.filter((row) => known.has(row.fingerprint));
  return mergeFindings([rows]).length;
}

/** The marker comes first: nothing that follows can cut it off or hide it. */
function opening(view: TaskView, findings: readonly Finding[], inline: number, known: number): string {
  const inBody = findings.length - inline;
  const where = [
    ...(inline > 0 ? [`${inline} inline`] : []),
    ...(inBody > 0 ? [`${inBody} not on a line of the diff, below`] : []),
  ].join(', ');
  const paragraphs = [
    reviewMarker(view.task.id),
    failures(view.subtasks, 8_000),
    `**${countBySeverity(findings)}**: ${where}.`,
    known === 0
      ? ''
      : `${plural(known, 'finding')} of an earlier review ${known === 1 ? 'is' : 'are'} not repeated.`,
  ];
  const text = paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
  return inBody > 0 ? `${text}\n\n` : text;
}

/** What was merged into a shown finding is shown with it. */
function fingerprintsWithout(rows: readonly FindingRow[], hidden: readonly Finding[]): string[] {
  const left = new Set(hidden.map(fingerprint));
  return [...new Set(rows.map((row) => row.fingerprint))].filter((print) => !left.has(print));
}
