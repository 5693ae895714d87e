import type { Triage } from '../domain/triage.ts';
import type { TaskView } from '../store/port/views.ts';
import { readRows } from './change.ts';
import { codeSpan, defuseMarkdown } from './defuse.ts';
import { defuseClosing } from './defuse-closing.ts';
import { capMarkdown, closeFences } from './fit-markdown.ts';
import { leftOutList } from './render-change-rows.ts';
import { explain } from './render-section.ts';

/** What a triage says on the issue. Pure. */

/** `labels`: what was set, which may be less than was proposed. */
export function renderTriage(triage: Triage, labels: readonly string[], issue: number): string {
  const duplicates = [...new Set(triage.duplicates)].filter((number) => number !== issue);
  const list = duplicates.map((number) => `#${number}`).join(', ');
  return [
    words(triage.summary, 2_500),
    labels.length === 0 ? '' : `Labels: ${labels.map((name) => codeSpan(name, 100)).join(', ')}.`,
    duplicates.length === 0
      ? ''
      : `Seems to say the same as ${list}. Nothing was closed: that is for people to decide.`,
    triage.question === null || triage.question.trim() === ''
      ? ''
      : `**Something is missing**\n\n${words(triage.question, 6_000)}`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

export function renderTriageFailure(view: TaskView): string {
  const { task } = view;
  if (task.outcome === 'cancelled' || task.outcome === 'superseded') return '**The triage was cancelled.**';
  const failed = leftOutList(readRows(view), 8_000);
  return ['**The triage failed.**', task.failure === null ? '' : explain(task.failure), failed]
    .filter((text) => text !== '')
    .join('\n\n');
}

function words(text: string, max: number): string {
  return closeFences(capMarkdown(defuseClosing(defuseMarkdown(text.trim())), max, '\n\n*The rest was cut.*'));
}
