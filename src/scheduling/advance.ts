import type { Limits } from '../config/operator-config.ts';
import type { MemoryBounds } from '../domain/sandbox-estimate.ts';
import type { Store, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { decide } from './decide.ts';
import { decideLimits } from './limits.ts';
import type { Queue } from './port.ts';

/**
 * Moves a running task on: reads its open ends, decides, applies, and enqueues what follows. Safe to call at any
 * time, by any replica, as often as one likes; it does nothing when there is nothing to do.
 */
export function createAdvance(deps: {
  store: Pick<Store, 'graphs'>;
  queue: Queue;
  limits: Limits;
  memory: MemoryBounds;
  /** A further bound on the attempts of a task that are live at once; null: none. See quota-bound.ts. */
  quotaBound?: () => Promise<(task: Task) => number | null>;
  log: Logger;
}): (taskId: string) => Promise<void> {
  const { store, queue, limits, quotaBound, log } = deps;
  const bounds = decideLimits(limits, deps.memory);
  return async (taskId) => {
    const quota = await quotaBound?.();
    const parallel = (task: Task) =>
      Math.max(1, Math.min(limits.task_parallel, quota?.(task) ?? limits.task_parallel));
    const advanced = await store.graphs.advance(taskId, {
      parallel,
      decide: (state, now) => {
        const actions = decide(state, bounds, now);
        for (const action of actions)
          if (action.type === 'enlarge')
            log.warn({ task: taskId, subtask: action.id, memoryMib: action.memoryMib }, action.reason);
        return actions;
      },
    });
    if (advanced === null) return;
    const { task, started, settled, wakeInMs } = advanced;
    const { priority } = task;
    // At once: the wake-ups of a large graph would else follow one another a round trip each.
    await Promise.all(
      started.map(({ attemptId }) => queue.enqueueRun(attemptId, task.repositoryId, { priority })),
    );
    if (settled) log.info({ task: taskId }, 'task settled');
    await queue.enqueue('publish', taskId, { priority });
    if (wakeInMs !== null) await queue.enqueue('advance', taskId, { priority, delayMs: wakeInMs });
  };
}
