import type { Verdict } from '../domain/verification.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Task } from '../store/port.ts';
import { type ChangeRow, fixedIssues, type Integration } from './change.ts';
import { plural } from './conclude.ts';
import { codeSpan, cut, plainText } from './defuse.ts';
import { defuseClosing } from './defuse-closing.ts';
import { fitItems, maxBody } from './fit-markdown.ts';
import { doneItem, leftOutList, nothingList, safeLine, spentLine } from './render-change-rows.ts';
import { history, serialLine } from './render-history.ts';
import { markerOf } from './render-reply.ts';

/** The pull request of a change: title, body, and the message of its commit. Pure. */

const part = '\u200b';

/** One line for places that are no Markdown but where GitHub still finds mentions and issues. */
function bareLine(text: string, max: number): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  return cut(defuseClosing(line).replace(/#(?=\d)/g, `#${part}`), max);
}

/** GitHub's limit of a title is 256 characters. */
export function pullTitle(task: Task, issue: number | null): string {
  const one = task.issues.find(({ number }) => number === issue);
  if (one !== undefined) return bareLine(one.title, 200) || 'Fix an issue';
  if (task.kind === 'batch') return `Fix ${plural(task.issues.length, 'issue')}`;
  const [asked = ''] = task.instruction.trim().split('\n');
  return bareLine(asked, 200) || bareLine(task.title, 200) || 'Fix';
}

export function taskTrailer(taskId: string): string {
  return `Patchfleet-Task: ${taskId}`;
}

/** Title, one line per row that is in it, the trailer that names the task. */
export function commitMessage(task: Task, integration: Integration): string {
  const merged = integration.rows.filter(({ state }) => state === 'merged');
  const lines = merged.slice(0, 100).map(({ subtask }) => {
    const summary = bareLine(subtask.summary, 200);
    return `- ${bareLine(subtask.title, 120)}${summary === '' ? '' : `: ${summary}`}`;
  });
  const more = merged.length > lines.length ? [`- and ${merged.length - lines.length} more`] : [];
  const title = cut(pullTitle(task, integration.subtask.issue), 72);
  return `${title}\n\n${[...lines, ...more].join('\n')}\n\n${taskTrailer(task.id)}\n`;
}

/** The body: marker first, all fences closed, within GitHub's limit. */
export function pullBody(view: TaskView, integration: Integration, key: string): string {
  const { task } = view;
  const { rows, candidate } = integration;
  const merged = rows.filter(({ state }) => state === 'merged');
  const before = [
    markerOf(key),
    ...fixedIssues(task, integration).map((number) => `Fixes #${number}`),
    origin(task),
    ...[serialLine(task)].filter((line) => line !== ''),
    '### Done',
    '',
  ].join('\n\n');
  const left = leftOutList(rows, 12_000);
  const none = nothingList(rows, 6_000);
  const after = [
    left === '' ? '' : `### Left out\n\n${left}`,
    none === '' ? '' : `### Nothing to change\n\n${none}`,
    history(ownRows(view, integration), '### On the way', 6_000),
    `### Verification\n\n${verification(candidate?.checks ?? [], candidate?.verdict ?? null)}`,
    spentLine(view),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
  // Every row is heard before any is heard at length.
  const share = Math.max(600, Math.floor(36_000 / Math.max(1, merged.length)));
  return fitItems({
    before,
    items: merged.map((row) => doneItem(row, share)),
    after: `\n\n${after}`,
    gap: '\n\n',
    max: maxBody,
    more: (count) => `*And ${plural(count, 'more subtask')}.*`,
  }).text;
}

/** Of the issue that the pull request is for, where it is for one. */
function ownRows({ subtasks, attempts, patches }: TaskView, { subtask }: Integration) {
  const own = subtasks.filter(
    ({ issue, id }) => subtask.issue === null || issue === subtask.issue || id === subtask.id,
  );
  return { subtasks: own, attempts, patches };
}

function origin(task: Task): string {
  const by = task.kind === 'campaign' ? 'a push' : codeSpan(task.trigger.actor, 100);
  const where = task.number === 0 ? '' : ` in #${task.number}`;
  const asked = task.instruction.trim() === '' ? '' : `: ${safeLine(task.instruction, 600)}`;
  return `Asked for by ${by}${where}${asked}`;
}

const namesShown = 10;

function verification(checks: readonly string[], verdict: Verdict | null): string {
  if (checks.length === 0) return 'The repository has no verification commands: nothing was run.';
  const how = `Commands: ${checks.map((name) => codeSpan(name, 200)).join(', ')}.`;
  if (verdict === null) return how;
  const { knownFailures, flaky } = verdict;
  // Such a command names no test that failed: it would not notice one more.
  const blind = knownFailures.filter((name) => name.startsWith('command:'));
  const known = knownFailures.filter((name) => !name.startsWith('command:'));
  return [
    'Verified as a whole: nothing fails with it that did not fail before.',
    how,
    blind.length === 0
      ? ''
      : `Failed before as well, without naming a test, so ${blind.length === 1 ? 'it judges' : 'they judge'} nothing:${names(blind)}`,
    known.length === 0
      ? ''
      : `${plural(known.length, 'test')} failed before and still ${known.length === 1 ? 'does' : 'do'}:${names(known)}`,
    flaky.length === 0 ? '' : `Failed once and passed when run again (not counted):${names(flaky)}`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function names(list: readonly string[]): string {
  const shown = list.slice(0, namesShown).map((name) => `- ${codeSpan(name, 200)}`);
  const more = list.length > namesShown ? [`- and ${list.length - namesShown} more`] : [];
  return `\n\n${[...shown, ...more].join('\n')}`;
}

export function mergedRows(rows: readonly ChangeRow[]): number {
  return rows.filter(({ state }) => state === 'merged').length;
}
