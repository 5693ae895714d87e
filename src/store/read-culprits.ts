import { inArray, sql } from 'drizzle-orm';
import type { LeftOut } from '../domain/candidate.ts';
import type { Culprit } from '../domain/graph.ts';
import { isOpen, type SubtaskStatus } from '../domain/task.ts';
import type { Executor } from './database.ts';
import { dependencies, subtasks } from './schema.ts';

/** The rows that were left out, with what stands above and below them in the graph. */
export async function readCulprits(tx: Executor, leftOut: readonly LeftOut[]): Promise<Culprit[]> {
  const ids = [...new Set(leftOut.map(({ subtaskId }) => subtaskId))];
  if (ids.length === 0) return [];
  const rows = await tx
    .select({
      id: subtasks.id,
      status: subtasks.status,
      waitsFor: subtasks.waitsFor,
      verificationReruns: subtasks.verificationReruns,
      conflictReruns: subtasks.conflictReruns,
    })
    .from(subtasks)
    .where(inArray(subtasks.id, ids));
  const culprits: Culprit[] = [];
  for (const { waitsFor, ...row } of rows) {
    const above = await reach(tx, row.id, 'above');
    const below = await reach(tx, row.id, 'below');
    culprits.push({
      ...row,
      above: above.map(({ id }) => id),
      below: below.map(({ id }) => id),
      blocked:
        [...above, ...below].some(({ kind, status }) => kind === 'agent' && isOpen(status)) ||
        (waitsFor === 'success' && above.some(({ direct, status }) => direct && status !== 'succeeded')),
    });
  }
  return culprits;
}

interface Reached extends Record<string, unknown> {
  readonly id: string;
  readonly kind: string;
  readonly status: SubtaskStatus;
  /** Not through others alone. */
  readonly direct: boolean;
}

/** Rows that one depends on, or that depend on it, directly or through others. */
async function reach(tx: Executor, id: string, where: 'above' | 'below') {
  const [from, to] =
    where === 'above'
      ? [dependencies.subtaskId, dependencies.dependsOn]
      : [dependencies.dependsOn, dependencies.subtaskId];
  const { rows } = await tx.execute<Reached>(sql`
    with recursive reached as (
      select ${to} as row_id from ${dependencies} where ${from} = ${id}
      union
      select ${to} from ${dependencies} join reached on ${from} = reached.row_id
    )
    select ${subtasks.id} as id, ${subtasks.kind} as kind, ${subtasks.status} as status,
      exists (select 1 from ${dependencies} where ${from} = ${id} and ${to} = ${subtasks.id}) as direct
    from ${subtasks} join reached on ${subtasks.id} = reached.row_id`);
  return rows;
}
