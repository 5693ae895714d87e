import type { Subtask } from '../store/port.ts';

/** Rows that count: of one that was cut into smaller ones those tell. */
export function standingRows(subtasks: readonly Subtask[]): Subtask[] {
  const parents = new Set(subtasks.map(({ parent }) => parent));
  return subtasks.filter(({ status, id }) => status !== 'split' || !parents.has(id));
}
