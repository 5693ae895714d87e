import { randomUUID } from 'node:crypto';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { turnsStand } from '../domain/resume.ts';
import { dropCheckpoints } from './checkpoints.ts';
import { type ClaimLimits, claimNext, defaultClaimLimits } from './claim-next.ts';
import { now } from './clock.ts';
import { comingUp } from './coming-up.ts';
import type { Database, Executor } from './database.ts';
import type { NewArtifact } from './port/artifacts.ts';
import type { Attempts, Claim } from './port/attempts.ts';
import type { Attempt } from './port.ts';
import { artifacts, attempts, subtasks, tasks } from './schema.ts';
import { storeResult } from './store-result.ts';

/** Attempts and their results, fenced by epoch: what a worker writes counts only while its claim stands. */
export function createAttempts(db: Database, limits: ClaimLimits = defaultClaimLimits): Attempts {
  return {
    claim: async (attemptId, worker) => {
      const marked = await mark(db, [attemptId], worker);
      return (await load(db, marked))[0] ?? null;
    },

    claimNext: async (worker, room) => {
      const marked = await claimNext(db, limits, worker, room, (tx, ids) => mark(tx, ids, worker));
      return await load(db, marked);
    },

    comingUp: (taskIds, who) => comingUp(db, limits.leaseMs, taskIds, who),

    heartbeat: async (claim) => {
      const rows = await db
        .update(attempts)
        .set({ heartbeatAt: now })
        .where(held(claim))
        .returning({ id: attempts.id });
      return rows.length > 0;
    },

    started: async (claim, containerId) => {
      const rows = await db
        .update(attempts)
        .set({ containerId, agentStartedAt: now, heartbeatAt: now })
        .where(held(claim))
        .returning({ id: attempts.id });
      return rows.length > 0;
    },

    succeed: (claim, result) =>
      db.transaction(async (tx) => {
        const { summary, turns, refused = 0, requested = [] } = result;
        const attempt = await end(tx, claim, { status: 'succeeded', turns, requested: [...requested] });
        if (attempt === null) return false;
        // It stays `running`: whether it is over is decided by `advance`.
        const [subtask] = await tx
          .update(subtasks)
          .set({ failure: null, summary, refused })
          .where(eq(subtasks.id, attempt.subtaskId))
          .returning({ agent: subtasks.agent });
        const { taskId, subtaskId, number } = attempt;
        await storeResult(tx, { taskId, subtaskId, number, agent: subtask?.agent ?? '' }, result);
        await storeArtifacts(tx, attempt.taskId, claim.attemptId, result.artifacts);
        if (result.turns > 0) await dropCheckpoints(tx, attempt.subtaskId);
        return true;
      }),

    fail: (claim, failure, kept) =>
      db.transaction(async (tx) => {
        const attempt = await end(tx, claim, { status: 'failed', failure });
        if (attempt === null) return false;
        // Whether it is tried again is decided by `advance`, from these numbers.
        await tx
          .update(subtasks)
          .set({ failures: sql`${subtasks.failures} + 1`, failure })
          .where(eq(subtasks.id, attempt.subtaskId));
        await storeArtifacts(tx, attempt.taskId, claim.attemptId, kept);
        if (!turnsStand(failure.code)) await dropCheckpoints(tx, attempt.subtaskId);
        return true;
      }),

    // It keeps its place: it has waited since it was queued.
    release: async (claim) => {
      await db
        .update(attempts)
        .set({
          status: 'queued',
          worker: null,
          containerId: null,
          agentStartedAt: null,
        })
        .where(held(claim));
    },
  };
}

/**
 * Those of the attempts that are queued, in the order given. One whose worker died is lost first, which counts the
 * death; see `due.ts`.
 */
async function mark(db: Executor, attemptIds: readonly string[], worker: string): Promise<Attempt[]> {
  const marked = await db
    .update(attempts)
    .set({
      status: 'running',
      epoch: sql`${attempts.epoch} + 1`,
      worker,
      claimedAt: now,
      heartbeatAt: now,
      containerId: null,
      agentStartedAt: null,
    })
    .where(and(inArray(attempts.id, [...attemptIds]), eq(attempts.status, 'queued')))
    .returning();
  return marked.toSorted((a, b) => attemptIds.indexOf(a.id) - attemptIds.indexOf(b.id));
}

async function load(db: Executor, marked: readonly Attempt[]) {
  if (marked.length === 0) return [];
  const rows = await db
    .select({ subtask: subtasks, task: tasks })
    .from(subtasks)
    .innerJoin(tasks, eq(tasks.id, subtasks.taskId))
    .where(
      inArray(
        subtasks.id,
        marked.map(({ subtaskId }) => subtaskId),
      ),
    );
  const owners = new Map(rows.map((row) => [row.subtask.id, row]));
  return marked.map((attempt) => {
    const owner = owners.get(attempt.subtaskId);
    if (owner === undefined) throw new Error(`attempt ${attempt.id} has no subtask`);
    return { claim: { attemptId: attempt.id, epoch: attempt.epoch }, attempt, ...owner };
  });
}

function held(claim: Claim) {
  return and(
    eq(attempts.id, claim.attemptId),
    eq(attempts.epoch, claim.epoch),
    eq(attempts.status, 'running'),
  );
}

/**
 * Ends a held attempt. The task row is locked first, in the order of every other transaction on a task, so
 * that a cancel and a result never wait for each other crosswise. Shared: the results of a task do not wait for one
 * another, only for what moves the task.
 */
async function end(
  tx: Executor,
  claim: Claim,
  change: Partial<typeof attempts.$inferInsert>,
): Promise<{ taskId: string; subtaskId: string; number: number } | null> {
  await tx.execute(sql`select 1 from ${tasks}
    where ${tasks.id} = (select ${attempts.taskId} from ${attempts} where ${attempts.id} = ${claim.attemptId})
    for share`);
  const [attempt] = await tx
    .update(attempts)
    .set({ ...change, finishedAt: now })
    .where(held(claim))
    .returning({ taskId: attempts.taskId, subtaskId: attempts.subtaskId, number: attempts.number });
  return attempt ?? null;
}

async function storeArtifacts(
  tx: Executor,
  taskId: string,
  attemptId: string,
  list: readonly NewArtifact[],
): Promise<void> {
  if (list.length === 0) return;
  await tx.insert(artifacts).values(list.map((item) => ({ ...item, id: randomUUID(), taskId, attemptId })));
}
