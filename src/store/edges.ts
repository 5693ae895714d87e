import { eq, inArray, or, sql } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { dependencies, subtasks } from './schema.ts';

/** Edges of a graph, and the count that each waiting row keeps of those that it still waits for. */

export interface Edge {
  readonly subtaskId: string;
  readonly dependsOn: string;
}

/** Does not touch any count; see {@link recount}. */
export async function addEdges(tx: Executor, edges: readonly Edge[]): Promise<void> {
  if (edges.length > 0)
    await tx
      .insert(dependencies)
      .values([...edges])
      .onConflictDoNothing();
}

/** Those rows are over: rows that wait for them wait for as much less. `only`: those that wait for the end alone. */
export async function meet(tx: Executor, ids: readonly string[], only?: 'end'): Promise<void> {
  if (ids.length === 0) return;
  const which = only === undefined ? sql`` : sql`and ${subtasks.waitsFor} = 'end'`;
  await tx.execute(sql`
    update ${subtasks} set unmet = ${subtasks.unmet} - met.edges
    from (
      select ${dependencies.subtaskId} as waiting, count(*)::int as edges from ${dependencies}
      where ${inArray(dependencies.dependsOn, [...ids])} group by ${dependencies.subtaskId}
    ) as met
    where ${subtasks.id} = met.waiting and ${subtasks.status} = 'waiting' ${which}`);
}

/** Counts anew what those rows wait for, and what rows that wait for them do: they, or their edges, were changed. */
export async function recount(tx: Executor, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const touched = or(
    inArray(subtasks.id, [...ids]),
    sql`${subtasks.id} in (select ${dependencies.subtaskId} from ${dependencies} where ${inArray(dependencies.dependsOn, [...ids])})`,
  );
  await tx.execute(sql`
    update ${subtasks} set unmet = (
      select count(*) from ${dependencies} join ${subtasks} as other on other.id = ${dependencies.dependsOn}
      where ${dependencies.subtaskId} = ${subtasks.id} and case ${subtasks.waitsFor}
        when 'end' then other.status in ('waiting', 'running')
        else other.status <> 'succeeded' end)
    where ${subtasks.status} = 'waiting' and (${touched})`);
}

/** What depended on the one depends on all of the others instead, and they on what it depended on. */
export async function replaceInEdges(tx: Executor, id: string, by: readonly string[]): Promise<void> {
  const above = await tx
    .select({ dependsOn: dependencies.dependsOn })
    .from(dependencies)
    .where(eq(dependencies.subtaskId, id));
  const below = await tx
    .delete(dependencies)
    .where(eq(dependencies.dependsOn, id))
    .returning({ subtaskId: dependencies.subtaskId });
  await addEdges(
    tx,
    by.flatMap((child) => [
      ...above.map(({ dependsOn }) => ({ subtaskId: child, dependsOn })),
      ...below.map(({ subtaskId }) => ({ subtaskId, dependsOn: child })),
    ]),
  );
}
