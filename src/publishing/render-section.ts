import { type Failure, failureKinds } from '../domain/failure.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Subtask } from '../store/port.ts';
import { mergedFindings, plural } from './conclude.ts';
import { codeSpan, plainLine } from './defuse.ts';
import { fitItems } from './fit-markdown.ts';
import { groupName, groupRows } from './group-rows.ts';
import { findingLine } from './render-findings.ts';
import { history, serialLine } from './render-history.ts';
import { type ReviewRecord, type Section, verdictOf } from './section.ts';
import { standingRows } from './standing-rows.ts';

/** The summary of one task: state, table of shards, failures, what was covered, spend. */
export function renderSummary(section: Section, max: number): string {
  const { view } = section;
  const { task, subtasks } = view;
  const rows = standingRows(subtasks).map((row) => tableRow(row, view));
  const before = [
    `**${verdictOf(section).headline}.**`,
    ...(task.failure === null ? [] : [explain(task.failure)]),
    ...[serialLine(task)].filter((line) => line !== ''),
    ...reviewLines(section.review),
    ...(rows.length === 0 ? [] : ['| Shard | Agent | Status | Findings | Time |\n|---|---|---|--:|--:|']),
  ].join('\n\n');
  const after = [
    failures(subtasks, Math.floor(max / 3)),
    history(view, '**On the way**', Math.floor(max / 8)),
    coverage(view),
    `Spent: ${spent(view)} · Task \`${task.id}\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
  return fitItems({
    before: rows.length === 0 ? before : `${before}\n`,
    items: rows,
    after: `\n\n${after}`,
    gap: '\n',
    max,
    more: (left) => `| ${plural(left, 'more shard')} | | | | |`,
  }).text;
}

/** The long part: every finding, every file. */
export function renderDetails({ view }: Section, max: number): string {
  const { task } = view;
  const { reviewed, missed } = filesOf(view);
  const findings = task.outcome === null ? [] : mergedFindings(view.findings);
  const part = (title: string, items: readonly string[], share: number) =>
    items.length === 0
      ? ''
      : fitItems({
          before: `### ${title}\n\n`,
          items,
          after: '\n\n',
          gap: '\n',
          max: Math.floor(max * share),
          more: (left) => `- and ${left} more`,
        }).text;
  return [
    part('Findings', findings.map(findingLine), 0.5),
    part(
      'Files not reviewed',
      missed.map((path) => `- ${codeSpan(path)}`),
      0.15,
    ),
    part('Files skipped', task.skipped.map(skippedLine), 0.15),
    part(
      'Files reviewed',
      reviewed.map((path) => `- ${codeSpan(path)}`),
      0.2,
    ),
  ]
    .join('')
    .trim();
}

function tableRow(row: Subtask, view: TaskView): string {
  const found = view.findings.filter((finding) => finding.subtaskId === row.id).length;
  const status = row.status === 'failed' && row.failure ? `failed: ${title(row.failure)}` : words[row.status];
  const time = row.startedAt && row.finishedAt ? duration(row.startedAt, row.finishedAt) : '';
  const findings = row.status === 'succeeded' ? String(found) : '';
  return `| ${plainLine(row.title, 120)} | ${plainLine(row.agent, 40)} | ${status} | ${findings} | ${time} |`;
}

const words: Readonly<Record<Subtask['status'], string>> = {
  waiting: 'waiting',
  running: 'running',
  succeeded: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
  split: 'cut into smaller ones',
};

/** Each shard that failed: what, in particular, and what to do about it. */
export function failures(subtasks: readonly Subtask[], max: number): string {
  const failed = subtasks.filter((row) => row.status === 'failed' || row.status === 'skipped');
  if (failed.length === 0) return '';
  return fitItems({
    before: `**${plural(failed.length, 'shard')} failed**, so the files in ${failed.length === 1 ? 'it' : 'them'} were not reviewed:\n\n`,
    items: groupRows(failed, (row) => (row.failure === null ? null : JSON.stringify(row.failure))).map(
      failureItem,
    ),
    after: '',
    gap: '\n',
    max,
    more: (left) => `- and ${left} more`,
  }).text;
}

/** Rows that failed by the same, as by the setup of the repository, are told together. */
function failureItem(rows: readonly Subtask[]): string {
  const names = rows.map((row) => `${plainLine(row.title, 120)} (${plainLine(row.agent, 40)})`);
  const [first] = rows;
  const why = first === undefined ? '' : failureOf(first);
  return names.length === 1 ? `- ${names[0]}: ${why}` : `- ${groupName(names, 'shard')}: ${why}`;
}

function failureOf(row: Subtask): string {
  return row.failure === null ? 'it was not run.' : explain(row.failure);
}

/** `Title (code): detail. Remedy`: the detail is from outside, the rest is ours. */
export function explain(failure: Failure): string {
  const detail = failure.detail.trim() === '' ? '' : `: ${plainLine(failure.detail, 600)}`;
  return `${title(failure)} (\`${failure.code}\`)${detail}. ${failureKinds[failure.code].remedy}`;
}

function title(failure: Failure): string {
  return failureKinds[failure.code].title;
}

const skippedNamed = 20;

function coverage(view: TaskView): string {
  const { task, subtasks } = view;
  if (task.plannedAt === null && subtasks.length === 0) return '';
  const { reviewed, missed } = filesOf(view);
  const counts = [
    `${plural(task.filesChanged, 'file')} changed`,
    `${reviewed.length} reviewed`,
    ...(missed.length === 0 ? [] : [`${missed.length} not ${task.outcome === null ? 'yet ' : ''}reviewed`]),
    ...(task.skipped.length === 0 ? [] : [`${task.skipped.length} skipped`]),
  ];
  const named = task.skipped.slice(0, skippedNamed).map(skippedLine);
  const more = task.skipped.length - named.length;
  const list =
    named.length === 0 ? '' : `\n\nSkipped:\n\n${named.join('\n')}${more > 0 ? `\n- and ${more} more` : ''}`;
  return `Covered: ${counts.join(', ')}.${list}`;
}

function skippedLine(file: { path: string; reason: string }): string {
  return `- ${codeSpan(file.path, 200)}: ${plainLine(file.reason, 200)}`;
}

/** A file counts as reviewed when every shard that has it succeeded. */
function filesOf({ subtasks }: TaskView): { reviewed: string[]; missed: string[] } {
  const of = (rows: readonly Subtask[]) => new Set(rows.flatMap((row) => row.matrix.inputs));
  const rows = standingRows(subtasks);
  const missed = of(rows.filter((row) => row.status !== 'succeeded'));
  const reviewed = of(rows.filter((row) => row.status === 'succeeded')).difference(missed);
  return { reviewed: [...reviewed].toSorted(), missed: [...missed].toSorted() };
}

function reviewLines(review: ReviewRecord | null): string[] {
  if (review === null) return [];
  const known =
    review.known === 0 ? [] : [`${plural(review.known, 'finding')} of an earlier review not repeated`];
  const leftOut = review.leftOut === 0 ? [] : [`${review.leftOut} too many to show`];
  if (review.posted) {
    const where = [`${review.inline} inline`, `${review.inBody} in the body`, ...leftOut, ...known].join(
      ', ',
    );
    const name = review.url === null ? 'Review' : `[Review](${review.url})`;
    return [`${name}: ${where}.`];
  }
  if (review.reason !== null) return [`No review was posted: ${plainLine(review.reason, 600)}.`];
  return known.length === 0 ? [] : [`No review was posted: ${known.join(', ')}.`];
}

export function spent({ spend }: Pick<TaskView, 'spend'>): string {
  if (spend.calls === 0) return 'no model calls';
  const cost = spend.costMicros === 0 ? '' : `, $${(spend.costMicros / 1e6).toFixed(4)}`;
  return `${plural(spend.calls, 'model call')}, ${spend.tokens.toLocaleString('en-US')} tokens${cost}`;
}

function duration(from: Date, to: Date): string {
  const seconds = Math.max(0, to.getTime() - from.getTime()) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
