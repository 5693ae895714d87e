import { pathsThatExist, scopeOf } from '../domain/scope-overlap.ts';
import type { ValidRow } from './validate-plan.ts';

/** One row that does the work of all, in an order their dependencies allow; `files`: all files of the repository. */
export function joinRows(rows: readonly ValidRow[], files: readonly string[]): ValidRow {
  const ordered = inOrder(rows);
  const [first] = ordered;
  const writes = [...new Set(ordered.flatMap((row) => row.writes))];
  const listed = (text: (row: ValidRow) => string) =>
    ordered.map((row, index) => `${index + 1}. ${row.title}: ${text(row)}`).join('\n\n');
  return {
    title: ordered.length === 1 ? (first?.title ?? '') : `${first?.title} and ${ordered.length - 1} more`,
    goal: `Do all of this, in this order:\n\n${listed((row) => row.goal)}`,
    writes,
    inputs: [...new Set(ordered.flatMap((row) => row.inputs))],
    dependsOn: [],
    needsSuccess: false,
    verification: listed((row) => row.verification),
    scope: scopeOf(writes, files, pathsThatExist(files)),
  };
}

/** Each row after those it depends on, else as they stand. The dependencies are acyclic. */
function inOrder(rows: readonly ValidRow[]): ValidRow[] {
  const done = new Set<number>();
  const ordered: ValidRow[] = [];
  const visit = (index: number) => {
    const row = rows[index];
    if (row === undefined || done.has(index)) return;
    done.add(index);
    for (const other of row.dependsOn) visit(other);
    ordered.push(row);
  };
  for (const index of rows.keys()) visit(index);
  return ordered;
}
