import { and, asc, desc, eq, getTableColumns, inArray, ne, sql } from 'drizzle-orm';
import type { Database, Executor } from './database.ts';
import type { TaskView, Views } from './port/views.ts';
import type { Task } from './port.ts';
import {
  attempts,
  candidates,
  dependencies,
  findings,
  patches,
  publications,
  subtasks,
  tasks,
  triages,
  usage,
} from './schema.ts';

type Snapshot = Executor & Pick<Database, 'selectDistinctOn'>;

/** What people are shown of tasks. A fixed number of queries whatever the number of tasks, all of one moment. */
export function createViews(db: Database): Views {
  const atOneMoment = <T>(read: (tx: Snapshot) => Promise<T>): Promise<T> =>
    db.transaction(read, { isolationLevel: 'repeatable read', accessMode: 'read only' });
  return {
    task: (id) =>
      atOneMoment(async (tx) => {
        const found = await tx.select().from(tasks).where(eq(tasks.id, id));
        return (await viewsOf(tx, found))[0] ?? null;
      }),

    head: (repositoryId, headSha) =>
      atOneMoment(async (tx) => {
        // `distinct on` keeps the first of each pull request, which is the newest.
        const found = await tx
          .selectDistinctOn([tasks.number])
          .from(tasks)
          .where(
            and(
              eq(tasks.repositoryId, repositoryId),
              eq(tasks.headSha, headSha),
              // A fix of the same head is no review of it.
              eq(tasks.kind, 'review'),
            ),
          )
          .orderBy(asc(tasks.number), desc(tasks.createdAt), desc(tasks.id));
        return viewsOf(tx, found);
      }),

    dependencies: (taskId) =>
      db
        .select({ subtaskId: dependencies.subtaskId, dependsOn: dependencies.dependsOn })
        .from(dependencies)
        .innerJoin(subtasks, eq(dependencies.subtaskId, subtasks.id))
        .where(eq(subtasks.taskId, taskId)),

    published: async (repositoryId, number, exceptTask) => {
      const rows = await db
        .select({ detail: publications.detail })
        .from(publications)
        .innerJoin(tasks, eq(publications.taskId, tasks.id))
        .where(
          and(
            eq(publications.kind, 'review'),
            eq(publications.status, 'done'),
            eq(tasks.repositoryId, repositoryId),
            eq(tasks.number, number),
            ne(tasks.id, exceptTask),
          ),
        );
      const lists = rows.map(({ detail }) => detail['published']);
      return new Set(
        lists
          .filter((list) => Array.isArray(list))
          .flat()
          .map(String),
      );
    },
  };
}

async function viewsOf(tx: Executor, found: readonly Task[]): Promise<TaskView[]> {
  const ids = found.map((task) => task.id);
  if (ids.length === 0) return [];
  const rows = await tx
    .select()
    .from(subtasks)
    .where(inArray(subtasks.taskId, ids))
    .orderBy(asc(subtasks.row));
  const tries = await tx
    .select(getTableColumns(attempts))
    .from(attempts)
    .innerJoin(subtasks, eq(attempts.subtaskId, subtasks.id))
    .where(inArray(attempts.taskId, ids))
    .orderBy(asc(subtasks.row), asc(attempts.number));
  const reported = await tx
    .select(getTableColumns(findings))
    .from(findings)
    .innerJoin(subtasks, eq(findings.subtaskId, subtasks.id))
    .where(inArray(findings.taskId, ids))
    .orderBy(asc(subtasks.row), asc(findings.position));
  const changed = await tx
    .select(getTableColumns(patches))
    .from(patches)
    .innerJoin(subtasks, eq(patches.subtaskId, subtasks.id))
    .where(inArray(patches.taskId, ids))
    .orderBy(asc(subtasks.row));
  const merged = await tx
    .select(getTableColumns(candidates))
    .from(candidates)
    .innerJoin(subtasks, eq(candidates.subtaskId, subtasks.id))
    .where(inArray(candidates.taskId, ids))
    .orderBy(asc(subtasks.row));
  const sorted = await tx.select().from(triages).where(inArray(triages.taskId, ids));
  const spent = await tx
    .select({
      taskId: usage.taskId,
      calls: sql<number>`count(*)`.mapWith(Number),
      tokens: sql<number>`coalesce(sum(${usage.tokens}), 0)`.mapWith(Number),
      costMicros: sql<number>`coalesce(sum(${usage.costMicros}), 0)`.mapWith(Number),
    })
    .from(usage)
    .where(inArray(usage.taskId, ids))
    .groupBy(usage.taskId);
  return found.map((task) => {
    const own = <T extends { taskId: string }>(list: readonly T[]) =>
      list.filter((row) => row.taskId === task.id);
    const { calls, tokens, costMicros } = own(spent)[0] ?? { calls: 0, tokens: 0, costMicros: 0 };
    return {
      task,
      subtasks: own(rows),
      attempts: own(tries),
      findings: own(reported),
      patches: own(changed),
      candidates: own(merged),
      triages: own(sorted),
      spend: { calls, tokens, costMicros },
    };
  });
}
