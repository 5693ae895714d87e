import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm';
import type { Action, GraphRow } from '../domain/graph.ts';
import type { Database, Executor } from './database.ts';
import type { Graphs } from './port.ts';
import { attempts, dependencies, subtasks } from './schema.ts';
import { lockRunning, settle } from './tasks.ts';

/** Reads the graph of a task and applies what the scheduler decides, in one transaction. */
export function createGraphs(db: Database): Graphs {
  return {
    advance: (taskId, decide) =>
      db.transaction(async (tx) => {
        const task = await lockRunning(tx, taskId);
        if (task === null) return null;
        const now = Date.now();
        const actions = decide(await readGraph(tx, taskId), now);
        const started: { attemptId: string }[] = [];
        let settled = false;
        let wakeAt: number | null = null;
        for (const action of actions) {
          if (action.type === 'start')
            started.push({ attemptId: await start(tx, taskId, action.id, new Date(now)) });
          else if (action.type === 'settle') settled = await settle(tx, taskId, action.outcome, null);
          else if (action.type === 'wake') wakeAt = action.at;
          else await change(tx, action, new Date(now));
        }
        return { task, started, settled, wakeAt };
      }),

    ancestors: async (subtaskId) => {
      const { rows } = await db.execute<{ id: string }>(sql`
        with recursive above as (
          select ${dependencies.dependsOn} as id from ${dependencies} where ${dependencies.subtaskId} = ${subtaskId}
          union
          select ${dependencies.dependsOn} from ${dependencies} join above on ${dependencies.subtaskId} = above.id
        )
        select id from above`);
      return rows.map(({ id }) => id);
    },
  };
}

async function readGraph(tx: Executor, taskId: string): Promise<GraphRow[]> {
  const rows = await tx.select().from(subtasks).where(eq(subtasks.taskId, taskId)).orderBy(asc(subtasks.row));
  const edges = await tx
    .select({ subtaskId: dependencies.subtaskId, dependsOn: dependencies.dependsOn })
    .from(dependencies)
    .innerJoin(subtasks, eq(subtasks.id, dependencies.subtaskId))
    .where(eq(subtasks.taskId, taskId));
  const dependsOn = Map.groupBy(edges, (edge) => edge.subtaskId);
  const running = rows.filter((row) => row.status === 'running').map((row) => row.id);
  const newest =
    running.length === 0
      ? []
      : await tx
          .selectDistinctOn([attempts.subtaskId], { subtaskId: attempts.subtaskId, status: attempts.status })
          .from(attempts)
          .where(inArray(attempts.subtaskId, running))
          .orderBy(attempts.subtaskId, desc(attempts.number));
  const lastAttempt = new Map(newest.map((attempt) => [attempt.subtaskId, attempt.status]));
  return rows.map((row) => ({
    id: row.id,
    row: row.row,
    status: row.status,
    dependsOn: (dependsOn.get(row.id) ?? []).map((edge) => edge.dependsOn),
    waitsFor: row.waitsFor,
    kind: row.kind,
    complexity: row.complexity,
    failures: row.failures,
    deaths: row.deaths,
    failure: row.failure,
    notBefore: row.notBefore?.getTime() ?? null,
    lastAttempt: lastAttempt.get(row.id) ?? null,
  }));
}

async function start(tx: Executor, taskId: string, subtaskId: string, now: Date): Promise<string> {
  const [last] = await tx
    .select({ number: attempts.number })
    .from(attempts)
    .where(eq(attempts.subtaskId, subtaskId))
    .orderBy(desc(attempts.number))
    .limit(1);
  const attemptId = randomUUID();
  await tx
    .insert(attempts)
    .values({ id: attemptId, taskId, subtaskId, number: (last?.number ?? 0) + 1, queuedAt: now });
  await tx
    .update(subtasks)
    .set({ status: 'running', ...(last === undefined ? { startedAt: now } : {}) })
    .where(eq(subtasks.id, subtaskId));
  return attemptId;
}

async function change(
  tx: Executor,
  action: Extract<Action, { type: 'retry' | 'fail' | 'skip' }>,
  now: Date,
): Promise<void> {
  const set =
    action.type === 'retry'
      ? { status: 'waiting' as const, notBefore: new Date(action.notBefore) }
      : {
          status: action.type === 'fail' ? ('failed' as const) : ('skipped' as const),
          failure: action.failure,
          finishedAt: now,
        };
  await tx
    .update(subtasks)
    .set(set)
    .where(and(eq(subtasks.id, action.id), inArray(subtasks.status, ['waiting', 'running'])));
}
