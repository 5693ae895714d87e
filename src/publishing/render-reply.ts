import type { TaskView } from '../store/port/views.ts';
import { countBySeverity, mergedFindings, plural } from './conclude.ts';
import { plainLine } from './defuse.ts';
import { capMarkdown, maxBody } from './fit-markdown.ts';
import { explain, failures } from './render-section.ts';
import { type Section, verdictOf } from './section.ts';

/** What tells an object of ours on GitHub, by the key of its publication. */
export function markerOf(key: string): string {
  return `<!-- patchfleet:${key} -->`;
}

/** A comment: its marker first, then the text, within GitHub's limit. */
export function renderComment(key: string, body: string): string {
  const marker = `${markerOf(key)}\n`;
  const text = body.trim() === '' ? 'Done.' : body.toWellFormed();
  return `${marker}${capMarkdown(text, maxBody - marker.length, '\n\n*The rest was cut: it is too long for GitHub.*')}`;
}

/** What the comment of the command says of its task. Changes when the work begins and when it is over. */
export function renderTaskReply(section: Section, checkUrl: string | null): string {
  const { view, review } = section;
  const { task } = view;
  const commit = task.headSha.slice(0, 12);
  const check = checkUrl === null ? '' : ` [Check run](${checkUrl}).`;
  if (task.outcome === null) return `Reviewing ${commit}.${check}`;
  const findings = mergedFindings(view.findings);
  const paragraphs = [
    `**Review of ${commit}: ${lowerFirst(verdictOf(section).headline)}.**${check}`,
    task.failure === null ? '' : explain(task.failure),
    failures(view.subtasks, 20_000),
    findings.length > 0 && !succeeded(view) ? `Found so far: ${countBySeverity(findings)}.` : '',
    review?.posted === true
      ? `${review.inline} inline, ${review.inBody} in the body of the ${review.url === null ? 'review' : `[review](${review.url})`}.`
      : '',
    (review?.known ?? 0) === 0
      ? ''
      : `${plural(review?.known ?? 0, 'finding')} of an earlier review not repeated.`,
    review?.reason ? `No review was posted: ${plainLine(review.reason, 600)}.` : '',
  ];
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

function succeeded(view: TaskView): boolean {
  return view.task.outcome === 'succeeded';
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
