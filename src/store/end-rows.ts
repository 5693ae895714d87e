import { asc, eq, inArray, sql } from 'drizzle-orm';
import type { Failure } from '../domain/failure.ts';
import { now } from './clock.ts';
import type { Executor } from './database.ts';
import { bury } from './dead-letters.ts';
import { meet } from './edges.ts';
import { artifacts, attempts, dependencies, subtasks } from './schema.ts';

/** The results of those rows count: what waits for them waits no more. */
export async function completeRows(tx: Executor, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(subtasks)
    .set({ status: 'succeeded', finishedAt: now, failure: null })
    .where(inArray(subtasks.id, [...ids]));
  await meet(tx, ids);
}

/** Gives a row up: it is kept as a dead letter, and what needs its success is skipped. */
export async function failRow(tx: Executor, id: string, failure: Failure): Promise<void> {
  const [row] = await tx
    .update(subtasks)
    .set({ status: 'failed', failure, finishedAt: now })
    .where(eq(subtasks.id, id))
    .returning();
  if (row === undefined) return;
  const { taskId, title, agent, matrix, deaths, verificationReruns, conflictReruns } = row;
  await bury(tx, {
    kind: 'subtask',
    ref: id,
    taskId,
    failure,
    detail: {
      ...{ row: row.row, title, agent, goal: matrix.goal, writes: matrix.writes },
      ...{ deaths, verificationReruns, conflictReruns, attempts: await triesOf(tx, id) },
    },
  });
  await skipBeneath(tx, { id, row: row.row, title, code: failure.code });
}

/** Its attempts with what they left. */
async function triesOf(tx: Executor, id: string) {
  const tries = await tx
    .select({
      id: attempts.id,
      number: attempts.number,
      status: attempts.status,
      worker: attempts.worker,
      failure: attempts.failure,
      finishedAt: attempts.finishedAt,
    })
    .from(attempts)
    .where(eq(attempts.subtaskId, id))
    .orderBy(asc(attempts.number));
  const kept = await tx
    .select({ attemptId: artifacts.attemptId, name: artifacts.name, digest: artifacts.digest })
    .from(artifacts)
    .where(
      inArray(
        artifacts.attemptId,
        tries.map((attempt) => attempt.id),
      ),
    );
  return tries.map((attempt) => ({
    ...attempt,
    artifacts: kept
      .filter(({ attemptId }) => attemptId === attempt.id)
      .map(({ name, digest }) => ({ name, digest })),
  }));
}

interface Over {
  readonly id: string;
  readonly row: number;
  readonly title: string;
  readonly code: Failure['code'];
}

/** Rows that wait for success will never start; those that wait for the end alone wait for one less. Level by level. */
async function skipBeneath(tx: Executor, failed: Over): Promise<void> {
  for (let over = [failed]; over.length > 0; ) {
    const ids = over.map(({ id }) => id);
    await meet(tx, ids, 'end');
    const beneath = await tx
      .select({
        id: subtasks.id,
        row: subtasks.row,
        title: subtasks.title,
        dependsOn: dependencies.dependsOn,
      })
      .from(dependencies)
      .innerJoin(subtasks, eq(subtasks.id, dependencies.subtaskId))
      .where(
        sql`${inArray(dependencies.dependsOn, ids)} and ${subtasks.status} = 'waiting' and ${subtasks.waitsFor} = 'success'`,
      )
      .orderBy(asc(subtasks.row), asc(dependencies.dependsOn));
    const skipped = new Map<string, Over>();
    for (const { id, row, title, dependsOn } of beneath) {
      const cause = over.find((other) => other.id === dependsOn) ?? failed;
      if (skipped.has(id)) continue;
      const detail = `row ${cause.row + 1} (${JSON.stringify(cause.title)}), which it depends on, did not succeed`;
      await tx
        .update(subtasks)
        .set({ status: 'skipped', failure: { code: cause.code, detail }, finishedAt: now })
        .where(eq(subtasks.id, id));
      skipped.set(id, { id, row, title, code: cause.code });
    }
    over = [...skipped.values()];
  }
}
