import type { NewTask } from '../store/port/tasks.ts';
import type { Task } from '../store/port.ts';
import type { AdmissionPorts } from './admission-ports.ts';

/** Lower runs first: what people asked for by a command or label, what events ask for, what can wait. */
export const priorities = { request: 10, event: 20, background: 30 } as const;

/** Makes the task, unless its trigger already made it, and asks for what follows. */
export async function startTask(
  ports: Pick<AdmissionPorts, 'store' | 'queue'>,
  request: NewTask,
): Promise<Task> {
  const { task } = await ports.store.tasks.create(request);
  await askForNext(ports, task);
  return task;
}

/** Asks for the plan and the publication of a task as far as it has come; asking again changes nothing. */
export async function askForNext(ports: Pick<AdmissionPorts, 'queue'>, task: Task): Promise<void> {
  const { id, phase, priority } = task;
  if (phase === 'planning') await ports.queue.enqueue('plan', id, { priority });
  if (phase !== 'held' && phase !== 'finished') await ports.queue.enqueue('publish', id, { priority });
}
