import { eq, inArray, sql } from 'drizzle-orm';
import type { Action, EnlargeAction, RerunAction } from '../domain/graph.ts';
import type { Executor } from './database.ts';
import { addEdges, recount } from './edges.ts';
import { completeRows, failRow } from './end-rows.ts';
import { forkRow } from './fork-row.ts';
import type { Task } from './port.ts';
import { checkpoints, subtasks, tasks } from './schema.ts';
import { splitRow } from './split-row.ts';

/** Applies what was decided about rows that ended, inside the transaction that holds the task. */
export async function applyActions(tx: Executor, task: Task, actions: readonly Action[]): Promise<void> {
  const done = actions.filter((action) => action.type === 'complete').map(({ id }) => id);
  await completeRows(tx, done);
  const reopened: string[] = [];
  for (const action of actions) {
    switch (action.type) {
      case 'retry':
        await wait(tx, action.id, { notBefore: new Date(action.notBefore) });
        if (action.counted) await countRetry(tx, task.id);
        break;
      case 'enlarge':
        await enlarge(tx, action);
        break;
      case 'fallback':
        await wait(tx, action.id, { ...afresh, agent: action.agent, fallbacks: [...action.rest] });
        await tx.delete(checkpoints).where(eq(checkpoints.subtaskId, action.id));
        break;
      case 'rerun':
        await rerun(tx, action);
        reopened.push(action.id);
        break;
      case 'again':
        await wait(tx, action.id, afresh);
        reopened.push(action.id);
        break;
      case 'split':
        await splitRow(tx, action);
        break;
      case 'fork':
        await forkRow(tx, task, action);
        break;
      case 'fail':
        await failRow(tx, action.id, action.failure);
        break;
      default: // `complete` was done; starting and settling come once nothing is left to resolve
    }
  }
  await recount(tx, reopened);
}

/** What a run that begins anew knows nothing of. */
const afresh = { failures: 0, deaths: 0, failure: null, notBefore: null, finishedAt: null };

async function wait(tx: Executor, id: string, set: Partial<typeof subtasks.$inferInsert>): Promise<void> {
  await tx
    .update(subtasks)
    .set({ ...set, status: 'waiting' })
    .where(eq(subtasks.id, id));
}

async function rerun(tx: Executor, { id, cause, feedback, base, after }: RerunAction): Promise<void> {
  const counter =
    cause === 'verification'
      ? { verificationReruns: sql`${subtasks.verificationReruns} + 1` }
      : { conflictReruns: sql`${subtasks.conflictReruns} + 1` };
  await tx
    .update(subtasks)
    .set({ ...afresh, ...counter, feedback, base, status: 'waiting' })
    .where(eq(subtasks.id, id));
  await addEdges(
    tx,
    after.map((dependsOn) => ({ subtaskId: id, dependsOn })),
  );
  await tx.delete(checkpoints).where(inArray(checkpoints.subtaskId, [id]));
}

async function enlarge(tx: Executor, { id, memoryMib, weight, reason }: EnlargeAction): Promise<void> {
  await tx
    .update(subtasks)
    .set({
      ...{ memoryMib, weight, summary: reason, status: 'waiting', notBefore: null },
      // The attempt was counted when it failed; it is no failure of the row.
      failures: sql`greatest(0, ${subtasks.failures} - 1)`,
    })
    .where(eq(subtasks.id, id));
}

async function countRetry(tx: Executor, taskId: string): Promise<void> {
  await tx
    .update(tasks)
    .set({ retriesUsed: sql`${tasks.retriesUsed} + 1` })
    .where(eq(tasks.id, taskId));
}
