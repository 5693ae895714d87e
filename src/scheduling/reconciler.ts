import type { Limits, Timing } from '../config/operator-config.ts';
import type { Sandboxes } from '../sandbox/port.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Queue } from './port.ts';

/** Between two tries to conclude a check run whose task is finished, milliseconds. */
const orphanMs = 5 * 60_000;
/** Leases after which a worker without a sign of life is forgotten; it counts as dead after one. */
const forgetLeases = 20;

/**
 * Holds the rows against the queue: whatever the rows say is due is enqueued again (asking twice changes
 * nothing), and attempts without a sign of life are lost. Run by every replica at every interval; one at a
 * time does it, by a lock.
 */
export function createReconciler(deps: {
  store: Pick<Store, 'due' | 'tasks' | 'workers' | 'tryLock'>;
  queue: Queue;
  timing: Timing;
  limits: Pick<Limits, 'task_seconds'>;
  log: Logger;
}): () => Promise<void> {
  const { store, queue, timing, limits, log } = deps;
  // Younger rows are about to be enqueued by whoever wrote them.
  const graceMs = timing.reconcile_ms;
  return async () => {
    await store.tryLock('reconcile', async () => {
      for (const id of await store.due.deliveries(graceMs)) await queue.enqueue('admit', id);
      for (const id of await store.due.loseAttempts(timing.lease_ms)) {
        log.warn({ task: id }, 'a worker gave no sign of life: its attempt is lost');
        await queue.enqueue('advance', id);
      }
      for (const id of await store.due.endOverdue(limits.task_seconds * 1000)) {
        log.warn({ task: id }, 'a task ran into its time limit: it ends with what it has');
        await queue.enqueue('advance', id);
      }
      await store.workers.forget(forgetLeases * timing.lease_ms);
      await store.tasks.releaseDue();
      for (const { id, priority } of await store.due.tasks('planning'))
        await queue.enqueue('plan', id, { priority });
      for (const { id, priority } of await store.due.tasks('running'))
        await queue.enqueue('advance', id, { priority });
      for (const { id, priority } of await store.due.tasks('publishing'))
        await queue.enqueue('publish', id, { priority });
      for (const { id, priority } of await store.due.checkRuns(orphanMs)) {
        log.warn({ task: id }, 'a check run was left open: it is concluded');
        await queue.enqueue('publish', id, { priority });
      }
      for (const { id, repositoryId, priority } of await store.due.attempts(graceMs))
        await queue.enqueueRun(id, repositoryId, { priority });
    });
  };
}

/** Removes the sandboxes of workers that are gone. Run by every worker for its own engine. */
export function createSandboxReaper(deps: {
  sandboxes: Sandboxes;
  store: Pick<Store, 'workers'>;
  leaseMs: number;
  log: Logger;
}): () => Promise<void> {
  return async () => {
    const removed = await deps.sandboxes.reap((worker) => deps.store.workers.isAlive(worker, deps.leaseMs));
    if (removed.containers + removed.workspaces > 0) deps.log.info(removed, 'removed orphaned sandboxes');
  };
}

/** Calls `work` now and every `intervalMs` after it ended; its failures are logged, never fatal. */
export function everyInterval(
  name: string,
  intervalMs: number,
  work: () => Promise<void>,
  log: Logger,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let wake = () => {};
  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        log.warn({ err: error }, `${name} failed`);
      }
      if (stopping.signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, intervalMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping.abort();
      wake();
      await running;
    },
  };
}
