import type { Failure } from '../domain/failure.ts';
import type { TaskView } from '../store/port/views.ts';
import {
  type ChangeOutcome,
  type ChangeRow,
  type Integration,
  readIntegrations,
  readRows,
} from './change.ts';
import { plural } from './conclude.ts';
import { leftOutList, nothingList, rowTable, safeLine, spentLine } from './render-change-rows.ts';
import { history, serialLine } from './render-history.ts';
import { mergedRows } from './render-pull.ts';
import { explain } from './render-section.ts';

/** What the comment of a change says: while it is held, while it runs, and when it is over. Pure. */

export interface Published {
  readonly integration: Integration;
  readonly outcome: ChangeOutcome;
}

const nouns = {
  review: 'review',
  fix: 'fix',
  triage: 'triage',
  batch: 'batch',
  campaign: 'campaign',
} as const;

function nounOf({ kind, planOnly }: TaskView['task']): string {
  return planOnly ? 'plan' : nouns[kind];
}

export function renderHeld({ task }: TaskView): string {
  return `This ${nounOf(task)} waits for a maintainer: it begins once one of them comments \`/patchfleet approve\`. Nothing was run yet.`;
}

export function renderProgress(view: TaskView): string {
  const { task, subtasks } = view;
  if (task.phase === 'planning')
    return task.planOnly ? '**Making the plan.**' : `**Planning the ${nouns[task.kind]}.**`;
  const rows = readRows(view);
  const over = rows.filter(({ state }) => state !== 'open').length;
  const integrating = subtasks.filter((row) => row.kind === 'integrate' && row.status === 'running').length;
  const again = readIntegrations(view).some(
    ({ subtask, rounds }) => rounds > 1 && subtask.status !== 'succeeded',
  );
  const step = again
    ? ' The target moved: the result is merged and verified again.'
    : integrating > 0
      ? ' Merging and verifying what is done.'
      : '';
  const title = `**Working on the ${nouns[task.kind]}: ${over} of ${plural(rows.length, 'subtask')} done.**${step}`;
  return [
    title,
    serialLine(task),
    rowTable(rows, task.kind === 'batch', 46_000),
    history(view, '**On the way**', 4_000),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

export function renderSettled(view: TaskView, published: readonly Published[]): string {
  const { task } = view;
  const rows = readRows(view).map((row) => withheldWhere(published, row));
  const left = rows.filter(({ state }) => ['left_out', 'failed', 'withheld'].includes(state));
  return [
    ...headline(view, published, rows),
    serialLine(task),
    rows.length === 0 ? '' : rowTable(rows, task.kind === 'batch', 24_000),
    left.length === 0 ? '' : `**Left out**\n\n${leftOutList(rows, 16_000)}`,
    rows.some(({ state }) => state === 'nothing')
      ? `**Nothing to change**\n\n${nothingList(rows, 10_000)}`
      : '',
    history(view, '**On the way**', 6_000),
    spentLine(view),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** What is in a candidate that could not be published is in nothing that anybody can see. */
function withheldWhere(published: readonly Published[], row: ChangeRow): ChangeRow {
  const refused = published.some(
    ({ integration, outcome }) =>
      outcome.kind === 'refused' && integration.rows.some(({ subtask }) => subtask.id === row.subtask.id),
  );
  return refused && row.state === 'merged' ? { ...row, state: 'withheld' } : row;
}

function headline(view: TaskView, published: readonly Published[], rows: readonly ChangeRow[]): string[] {
  const { task } = view;
  const noun = nouns[task.kind];
  if (task.outcome === 'cancelled' || task.outcome === 'superseded')
    return [`**The ${noun} was cancelled.** Nothing was published${why(task.failure)}.`];
  if (task.failure !== null) return [`**The ${noun} failed.**`, explain(task.failure)];
  if (rows.length === 0) return ['**There is nothing to change.**'];
  const lines = published.map((one) => outcomeLine(view, one));
  return lines.length > 0 ? lines : [`**The ${noun} failed: nothing was merged.**`];
}

/** Who ended it, and how. */
function why(failure: Failure | null): string {
  return failure?.code === 'cancelled' ? `: ${safeLine(failure.detail, 200)}` : '';
}

/** One line about one pull request, or why there is none. */
export function outcomeLine(view: TaskView, { integration, outcome }: Published): string {
  const { rows, subtask } = integration;
  const issue = subtask.issue === null ? '' : `#${subtask.issue}: `;
  const count = `${mergedRows(rows)} of ${plural(rows.length, 'subtask')} merged`;
  switch (outcome.kind) {
    case 'pull': {
      const note = outcome.note === '' ? '' : ` ${outcome.note}`;
      return `**${issue}Draft pull request [#${outcome.number}](${outcome.url}): ${count}.**${note}`;
    }
    case 'patch': {
      const name = outcome.url === null ? 'a comment' : `[a comment](${outcome.url})`;
      return `**${issue}${count}.** The head is in a fork, where nothing can be pushed: the patch is in ${name}.`;
    }
    case 'refused':
      return `**${issue}No pull request.** ${refusal(outcome.failure)}`;
    case 'moved':
      return `**${issue}The target moved:** the result is merged and verified again.`;
    case 'none':
      return `**${issue}${whyNone(view, integration)}**`;
  }
}

/** What GitHub refused says enough by itself; our own codes come with their remedy. */
function refusal(failure: Failure): string {
  return failure.code === 'github_refused' ? `${capital(safeLine(failure.detail, 600))}.` : explain(failure);
}

function whyNone(view: TaskView, { rows, subtask, candidate }: Integration): string {
  if (candidate === null) {
    const { failure } = subtask;
    return failure === null
      ? 'No pull request: merging did not come to an end.'
      : `No pull request. ${explain(failure)}`;
  }
  const patches = rows.filter(({ patch }) => patch !== null && patch.entries.length > 0).length;
  const out = candidate.leftOut.length;
  if (out === 0) return 'There is nothing to change: no pull request.';
  if (view.task.config?.fix.on_partial === 'all_or_nothing') {
    return `No pull request: ${plural(out, 'subtask')} of ${rows.length} did not make it, and this repository wants all or nothing (\`fix.on_partial\`).`;
  }
  return patches === 0
    ? 'No pull request: no subtask gave a change.'
    : 'No pull request: none of the changes could be merged.';
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
