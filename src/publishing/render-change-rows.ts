import { codeOfReport, reportCode } from '../domain/candidate.ts';
import { failureKinds } from '../domain/failure.ts';
import type { TaskView } from '../store/port/views.ts';
import type { ChangeRow, RowState } from './change.ts';
import { plural } from './conclude.ts';
import { codeSpan, defuseMarkdown, plainLine } from './defuse.ts';
import { defuseClosing } from './defuse-closing.ts';
import { capMarkdown, fitItems } from './fit-markdown.ts';
import { groupName, groupRows } from './group-rows.ts';
import { spent } from './render-section.ts';

/** The rows of a change for people: the live table, what was done, what was left out. Pure. */

const words: Readonly<Record<RowState, string>> = {
  open: 'waiting',
  ready: 'done',
  merged: 'merged',
  left_out: 'left out',
  nothing: 'nothing to change',
  withheld: 'not published',
  failed: 'failed',
};

/** One line of text from outside, which closes no issue. */
export function safeLine(text: string, max: number): string {
  return defuseClosing(plainLine(text, max));
}

/** A table of all rows: what each is about and how it stands. */
export function rowTable(rows: readonly ChangeRow[], batch: boolean, max: number): string {
  if (rows.length === 0) return '';
  const head = batch ? ['Issue', 'Subtask', 'Status', 'Result'] : ['Subtask', 'Status', 'Result'];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const told = new Set<string>();
  return fitItems({
    before: `${line(head)}\n${line(head.map(() => '---'))}\n`,
    items: rows.map((row) => {
      const { subtask } = row;
      const issue = subtask.issue === null ? '' : `#${subtask.issue}`;
      const common = commonFailure(row);
      const cells = [
        safeLine(subtask.title, 120),
        statusWord(row),
        resultCell(row, common !== null && told.has(common)),
      ];
      if (common !== null) told.add(common);
      return line(batch ? [issue, ...cells] : cells);
    }),
    after: '',
    gap: '\n',
    max,
    more: (left) => line([plural(left, 'more subtask'), ...head.slice(1).map(() => '')]),
  }).text;
}

function statusWord({ subtask, state }: ChangeRow): string {
  if (state === 'open') return subtask.status === 'running' ? 'running' : 'waiting';
  return subtask.status === 'skipped' || subtask.status === 'cancelled' ? subtask.status : words[state];
}

/** `isTold`: why it failed stands in a row above. */
function resultCell(row: ChangeRow, isTold: boolean): string {
  const { state, patch, code, reason } = row;
  if (state === 'failed' || state === 'left_out') {
    return [`\`${reportCode(code ?? state)}\``, isTold ? '' : safeLine(reason, 160)]
      .filter((part) => part !== '')
      .join(': ');
  }
  return patch === null ? '' : plural(patch.entries.length, 'file');
}

const filesNamed = 20;

/** What a row did: its title, its own words, its files. */
export function doneItem(row: ChangeRow, max: number): string {
  const { subtask, patch } = row;
  const entries = patch?.entries ?? [];
  const names = entries
    .slice(0, filesNamed)
    .map(({ path, file, before }) =>
      file === null
        ? `${codeSpan(path, 200)} (removed)`
        : before === null
          ? `${codeSpan(path, 200)} (new)`
          : codeSpan(path, 200),
    );
  const more = entries.length > filesNamed ? `, and ${entries.length - filesNamed} more` : '';
  const files = names.length === 0 ? '' : `\n\nFiles: ${names.join(', ')}${more}`;
  const title = `#### ${safeLine(subtask.title, 200)}`;
  return `${title}${said(subtask.summary, max - title.length - files.length)}${files}`;
}

/** Words of an agent, as a paragraph. */
function said(summary: string, max: number): string {
  if (summary.trim() === '') return '';
  const text = defuseClosing(defuseMarkdown(summary.trim()));
  return capMarkdown(`\n\n${text}`, Math.min(2_500, Math.max(0, max)), '\n\n*The rest was cut.*');
}

/** Rows whose work is not there, each with its code and why; empty where there are none. */
export function leftOutList(rows: readonly ChangeRow[], max: number): string {
  const out = rows.filter(({ state }) => state === 'left_out' || state === 'failed' || state === 'withheld');
  if (out.length === 0) return '';
  return fitItems({
    before: '',
    items: groupRows(out, commonFailure).map(leftOutItem),
    after: '',
    gap: '\n',
    max,
    more: (left) => `- and ${left} more`,
  }).text;
}

/** What several rows may have failed by, as by the setup of the repository; of others null. */
function commonFailure({ subtask, state, code, reason }: ChangeRow): string | null {
  return state === 'failed' && subtask.status === 'failed' ? JSON.stringify([code, reason]) : null;
}

function leftOutItem(group: readonly ChangeRow[]): string {
  const [row] = group;
  if (row === undefined) return '';
  const { subtask, state, code, reason } = row;
  const names = group.map((one) => safeLine(one.subtask.title, 120));
  const title = names.length === 1 ? `- **${names[0]}**` : `- **${groupName(names, 'subtask')}**`;
  if (state === 'withheld') return `${title}: fine by itself, not published.`;
  const shown = `${title} (\`${reportCode(code ?? state)}\`)`;
  if (subtask.status === 'skipped') return `${shown}: not run, since ${safeLine(reason, 800)}.`;
  const kind = code === null ? null : kindOf(code);
  // Of what merging left out the reason says what it is.
  const what = kind === null || state === 'left_out' ? '' : `${kind.title}. `;
  const detail = safeLine(reason, 800);
  const end = detail === '' || /[.!?]$/.test(detail) ? '' : '.';
  return `${shown}: ${what}${detail}${end}${kind === null ? '' : ` ${kind.remedy}`}`;
}

/** What the table of failures says of a code, a report's word for one included. */
function kindOf(code: string) {
  const known = codeOfReport(code);
  return Object.hasOwn(failureKinds, known) ? failureKinds[known as keyof typeof failureKinds] : null;
}

/** Rows that had nothing to change, with the reasons their agents gave. */
export function nothingList(rows: readonly ChangeRow[], max: number): string {
  return fitItems({
    before: '',
    items: rows
      .filter(({ state }) => state === 'nothing')
      .map(({ subtask }) => {
        const reason = safeLine(subtask.summary, 800);
        return `- **${safeLine(subtask.title, 120)}**${reason === '' ? '' : `: ${reason}`}`;
      }),
    after: '',
    gap: '\n',
    max,
    more: (left) => `- and ${left} more`,
  }).text;
}

/** What the agents and checks of a task used. */
export function spentLine(view: Pick<TaskView, 'task' | 'spend'>): string {
  return `Spent: ${spent(view)} · Task \`${view.task.id}\``;
}
