import type { Limits } from '../config/operator-config.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { decide } from './decide.ts';
import type { Queue } from './port.ts';

/**
 * Moves a running task on: reads its graph, decides, applies, and enqueues what follows. Safe to call at any
 * time, by any replica, as often as one likes; it does nothing when there is nothing to do.
 */
export function createAdvance(deps: {
  store: Pick<Store, 'graphs'>;
  queue: Queue;
  limits: Limits;
  log: Logger;
}): (taskId: string) => Promise<void> {
  const { store, queue, limits, log } = deps;
  const bounds = { taskParallel: limits.task_parallel, retries: limits.retries, deaths: limits.deaths };
  return async (taskId) => {
    const advanced = await store.graphs.advance(taskId, (rows, now) => decide(rows, bounds, now));
    if (advanced === null) return;
    const { task, started, settled, wakeAt } = advanced;
    const { priority } = task;
    for (const { attemptId } of started) await queue.enqueueRun(attemptId, task.repositoryId, { priority });
    if (settled) log.info({ task: taskId }, 'task settled');
    await queue.enqueue('publish', taskId, { priority });
    if (wakeAt !== null) await queue.enqueue('advance', taskId, { priority, delayMs: wakeAt - Date.now() });
  };
}
