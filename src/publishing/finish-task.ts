import type { Store, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';

/** The last step of every publishing: all that was to be said of the task is on GitHub. */
export async function finishTask(
  { store, log }: { readonly store: Pick<Store, 'tasks'>; readonly log: Logger },
  { id, kind, phase, outcome }: Task,
): Promise<void> {
  if (phase !== 'publishing') return;
  await store.tasks.finish(id);
  log.info({ task: id, kind, outcome }, 'task published');
}
