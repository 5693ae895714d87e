import { failureKinds } from '../domain/failure.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Attempt, Subtask, Task } from '../store/port.ts';
import { plural } from './conclude.ts';
import { plainLine } from './defuse.ts';
import { defuseClosing } from './defuse-closing.ts';
import { fitItems } from './fit-markdown.ts';

/** What happened to rows on the way: cut, run again, tried again; and why there is but one. Pure. */

/** Why the work was not cut into rows; empty where it was. The reason may be the planner's own words. */
export function serialLine(task: Pick<Task, 'serialReason'>): string {
  const reason = task.serialReason.trim();
  return reason === '' ? '' : `Runs as one subtask: ${said(reason, 600).replace(/\.$/, '')}.`;
}

export type HistoryView = Pick<TaskView, 'subtasks' | 'attempts' | 'patches'>;

/** One line for each row with something to tell, under `heading`; empty where there is none. */
export function history(view: HistoryView, heading: string, max: number): string {
  const items = view.subtasks.flatMap((row) => {
    const events = eventsOf(row, view);
    return events.length === 0 ? [] : [`- **${said(row.title, 120)}**: ${events.join('; ')}.`];
  });
  if (items.length === 0) return '';
  return fitItems({
    before: `${heading}\n\n`,
    items,
    after: '',
    gap: '\n',
    max,
    more: (left) => `- and ${plural(left, 'more row')}`,
  }).text;
}

function eventsOf(row: Subtask, view: HistoryView): string[] {
  const attempts = view.attempts.filter(({ subtaskId }) => subtaskId === row.id);
  return [
    ...splitEvent(row, view.subtasks, attempts),
    ...rerunEvents(row),
    ...enlarged(row, attempts),
    ...triedAgain(row, attempts),
    ...deaths(attempts),
    ...takenOver(row, view, attempts),
  ];
}

function splitEvent(row: Subtask, all: readonly Subtask[], attempts: readonly Attempt[]): string[] {
  if (row.status !== 'split') return [];
  const parts = all.filter(({ parent }) => parent === row.id).map(({ title }) => `*${said(title, 120)}*`);
  const failure = attempts.findLast((attempt) => attempt.failure !== null)?.failure;
  const why = failure == null ? '' : ` (\`${failure.code}\`: ${lower(failureKinds[failure.code].title)})`;
  return [`cut into ${parts.join(' and ') || 'smaller rows'}${why}`];
}

function rerunEvents(row: Subtask): string[] {
  const { verificationReruns, conflictReruns, base } = row;
  const why = firstOf(row.feedback);
  const last = why === '' ? '' : ` (${said(why, 200)})`;
  const on = base === null ? '' : `, on the new base \`${base.slice(0, 12)}\``;
  const checks =
    verificationReruns === 0
      ? []
      : [`run again ${times(verificationReruns)}, since the checks failed with it`];
  const conflict =
    conflictReruns === 0
      ? []
      : [`run again ${times(conflictReruns)}, since it was in conflict with other work`];
  const events = [...checks, ...conflict];
  // The reason and the base of the newest run stand at the end.
  return events.map((event, index) => (index === events.length - 1 ? `${event}${last}${on}` : event));
}

/** The first line of what a row was told; where it announces a list, the list with it. */
function firstOf(feedback: string): string {
  const [first = '', ...rest] = feedback.trim().split('\n');
  return first.endsWith(':') ? `${first} ${rest.join(', ')}` : first;
}

/** Failures that passed: not the one a row failed with for good, which is told where it is left out. */
function triedAgain(row: Subtask, attempts: readonly Attempt[]): string[] {
  const before = row.status === 'failed' ? attempts.slice(0, -1) : attempts;
  const passed = before.flatMap(({ status, failure }) =>
    status === 'failed' &&
    failure !== null &&
    failure.code !== 'memory_exhausted' &&
    failureKinds[failure.code].class === 'transient'
      ? [failure.code]
      : [],
  );
  const codes = [...new Set(passed)].map((code) => `\`${code}\``);
  return passed.length === 0 ? [] : [`tried again ${times(passed.length)} (${codes.join(', ')})`];
}

function enlarged({ memoryMib }: Subtask, attempts: readonly Attempt[]): string[] {
  const ranOut = attempts.filter(({ failure }) => failure?.code === 'memory_exhausted').length;
  const more = memoryMib === null ? '' : `, and has been given ${memoryMib} MiB`;
  return ranOut === 0 ? [] : [`ran out of memory ${times(ranOut)}${more}`];
}

function deaths(attempts: readonly Attempt[]): string[] {
  const lost = attempts.filter(({ status }) => status === 'lost').length;
  return lost === 0 ? [] : [`its worker died ${times(lost)}, and another took over`];
}

/** A change without a turn of an agent comes from the index of results. */
function takenOver(row: Subtask, { patches }: HistoryView, attempts: readonly Attempt[]): string[] {
  const last = attempts.at(-1);
  const taken = last?.status === 'succeeded' && last.turns === 0;
  return taken && patches.some(({ subtaskId }) => subtaskId === row.id)
    ? ['taken from the verified result of an earlier run of the same work']
    : [];
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`;
}

/** One line of text from outside, which closes no issue. */
function said(text: string, max: number): string {
  return defuseClosing(plainLine(text, max));
}

function lower(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
