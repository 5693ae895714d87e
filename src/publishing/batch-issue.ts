import { isOpen } from '../domain/task.ts';
import type { TaskView } from '../store/port/views.ts';
import type { ChangeRow } from './change.ts';
import { outcomeLine, type Published } from './render-change.ts';
import { leftOutList, nothingList, spentLine } from './render-change-rows.ts';

/** One issue of a batch: how it stands, and what its comment says. Pure. */

export type IssueState = 'running' | 'done' | 'failed';

interface Part {
  readonly published: Published | null;
  readonly rows: readonly ChangeRow[];
}

function partOf(published: readonly Published[], issue: number): Part {
  const own = published.find(({ integration }) => {
    const { subtask } = integration;
    return subtask.issue === null || subtask.issue === issue;
  });
  const rows = own?.integration.rows ?? [];
  return {
    published: own ?? null,
    rows: rows.filter(({ subtask }) => subtask.issue === null || subtask.issue === issue),
  };
}

/** `done`: all that was to be done for it is in a pull request, or there was nothing to change. */
export function issueState(view: TaskView, published: readonly Published[], issue: number): IssueState {
  if (view.task.outcome === null || view.subtasks.some(({ status }) => isOpen(status))) return 'running';
  const { published: own, rows } = partOf(published, issue);
  if (own === null || rows.length === 0) return 'failed';
  if (rows.some(({ state }) => state !== 'merged' && state !== 'nothing')) return 'failed';
  if (rows.every(({ state }) => state === 'nothing')) return 'done';
  return own.outcome.kind === 'pull' ? 'done' : 'failed';
}

/** The one comment on an issue, once the batch is over. */
export function renderIssueReply(view: TaskView, published: readonly Published[], issue: number): string {
  const { published: own, rows } = partOf(published, issue);
  const state = issueState(view, published, issue);
  const merged = rows.some((row) => row.state === 'merged');
  const left = leftOutList(rows, 12_000);
  const none = nothingList(rows, 6_000);
  const first =
    own === null
      ? '**Not fixed:** the batch did not get to it.'
      : own.outcome.kind === 'pull' && !merged
        ? `**${state === 'done' ? 'There is nothing to change for this issue' : 'Not fixed'}.**`
        : outcomeLine(view, own);
  return [
    first,
    left === '' ? '' : `**Left out**\n\n${left}`,
    none === '' ? '' : `**Nothing to change**\n\n${none}`,
    spentLine(view),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}
