import { randomUUID } from 'node:crypto';
import { and, eq, gt, sql } from 'drizzle-orm';
import { decide } from '../../../src/scheduling/decide.ts';
import type { OpenDatabase } from '../../../src/store/database.ts';
import type { Store } from '../../../src/store/port.ts';
import { attempts, checkpoints, dependencies, subtasks } from '../../../src/store/schema.ts';
import { newFinding, newTask, planFacts } from '../tasks.ts';
import type { OpenWorld } from './world.ts';

const inYears = new Date('2999-01-01');

/** Graphs in the real store, on a real Postgres. A finding of each result says which attempt gave it. */
export function storeWorlds({ db }: Pick<OpenDatabase, 'db'>, store: Store): OpenWorld {
  return async (plan, limits, parallel) => {
    const key = randomUUID();
    const { task } = await store.tasks.create(newTask({ kind: 'fix', key, number: 1 }));
    await store.tasks.storePlan(task.id, plan, planFacts);
    /** When a pause was decided that is not yet put off, milliseconds. */
    let paused: number | null = null;
    const scheduler = {
      parallel: () => parallel,
      decide: (...[state, now]: Parameters<Parameters<Store['graphs']['advance']>[1]['decide']>) => {
        const actions = decide(state, limits, now);
        if (actions.some((action) => action.type === 'retry' && action.notBefore > now)) paused ??= now;
        return actions;
      },
    };
    /** Pauses are over when the history says so, however long it takes to play. */
    const putOff = async () => {
      if (paused === null) return;
      const pausing = and(eq(subtasks.taskId, task.id), gt(subtasks.notBefore, new Date(paused)));
      await db.update(subtasks).set({ notBefore: inYears }).where(pausing);
      paused = null;
    };
    return {
      advance: async () => {
        const advanced = await store.graphs.advance(task.id, scheduler);
        await putOff();
        // A second replica finds nothing to do.
        if (advanced !== null && !advanced.settled) {
          const again = await store.graphs.advance(task.id, scheduler);
          if (again?.started.length !== 0 || again.settled) throw new Error('it went on by itself');
        }
        return advanced === null ? null : advanced.started.map(({ attemptId }) => attemptId);
      },
      claim: async (attemptId) => (await store.attempts.claim(attemptId, 'worker'))?.claim ?? null,
      succeed: async (claim, { requested, candidate }) =>
        store.attempts.succeed(claim, {
          ...{ summary: 'done', turns: 1, artifacts: [], requested },
          ...(candidate === null ? { findings: [newFinding({ title: claim.attemptId })] } : { candidate }),
        }),
      fail: async (claim, failure, progressed) => {
        const [attempt] = await db.select().from(attempts).where(eq(attempts.id, claim.attemptId));
        const { subtaskId = '' } = attempt ?? {};
        if (progressed && attempt?.status === 'running')
          await db.insert(checkpoints).values({
            subtaskId,
            turn: attempt.number,
            attemptId: claim.attemptId,
            messages: '[]',
            tokens: 1,
          });
        return store.attempts.fail(claim, failure, []);
      },
      lose: async (attemptId) => {
        await db
          .update(attempts)
          .set({ heartbeatAt: new Date(0) })
          .where(eq(attempts.id, attemptId));
        await store.due.loseAttempts(60_000);
      },
      release: async (claim) => store.attempts.release(claim),
      elapse: async () => {
        await db
          .update(subtasks)
          .set({ notBefore: new Date(0) })
          .where(eq(subtasks.taskId, task.id));
      },
      cancel: async () => {
        await store.tasks.settle(task.id, 'cancelled', null);
      },
      snapshot: async () => {
        const view = await store.views.task(task.id);
        if (view === null) throw new Error('the task is gone');
        const edges = await db
          .select({ subtaskId: dependencies.subtaskId, dependsOn: dependencies.dependsOn })
          .from(dependencies)
          .innerJoin(subtasks, eq(subtasks.id, dependencies.subtaskId))
          .where(eq(subtasks.taskId, task.id))
          .orderBy(sql`1, 2`);
        const dependsOn = Map.groupBy(edges, (edge) => edge.subtaskId);
        const numbers = new Map(view.subtasks.map(({ id, row }) => [id, row]));
        const { phase, outcome, retriesUsed } = view.task;
        return {
          ...{ phase, outcome, retriesUsed },
          rows: view.subtasks.map((row) => ({
            ...{ id: row.id, row: row.row, kind: row.kind, issue: row.issue, waitsFor: row.waitsFor },
            ...{ status: row.status, title: row.title, writes: row.matrix.writes, path: row.path },
            ...{ dependsOn: (dependsOn.get(row.id) ?? []).map((edge) => edge.dependsOn) },
            ...{ unmet: row.unmet, depth: row.depth, failures: row.failures, deaths: row.deaths },
            memoryMib: row.memoryMib,
            pausing: row.status === 'waiting' && (row.notBefore?.getTime() ?? 0) > Date.now(),
            ...{ verificationReruns: row.verificationReruns, conflictReruns: row.conflictReruns },
            failure: row.failure,
          })),
          attempts: view.attempts.map(({ id, subtaskId, number, status }) => ({
            id,
            subtaskId,
            number,
            status,
          })),
          results: view.findings.map(({ title, subtaskId }) => ({
            attemptId: title,
            row: numbers.get(subtaskId) ?? -1,
          })),
        };
      },
    };
  };
}
