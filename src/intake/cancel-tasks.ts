import type { Task } from '../store/port.ts';
import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { priorities } from './start-task.ts';
import type { TriggerOf } from './trigger-decision.ts';

/** Settles what was open here when the command came; returns it. Says the same again when it is repeated. */
export async function cancelTasks(at: Admitting, trigger: TriggerOf<'commands'>): Promise<Task[]> {
  const { store, queue, delivery } = at;
  // Names the comment, so that a repeated admission knows what it cancelled the first time.
  const detail = `${trigger.actor} cancelled it in comment ${trigger.commentId}`;
  const cancelled: Task[] = [];
  for (const task of await store.tasks.ofPull(trigger.repository.id, trigger.issue)) {
    if (task.outcome === null && task.createdAt <= delivery.receivedAt) {
      if (await store.tasks.settle(task.id, 'cancelled', { code: 'cancelled', detail })) cancelled.push(task);
    } else if (task.outcome === 'cancelled' && task.failure?.detail === detail) cancelled.push(task);
    else continue;
    await queue.enqueue('publish', task.id, { priority: 10 });
  }
  return cancelled;
}

/**
 * What is open for a pull request or issue ends when that is closed; a batch with the issue goes on with the others.
 * Events come late and out of order, so GitHub is asked whether it is closed still.
 */
export async function cancelClosed(at: Admitting, trigger: TriggerOf<'closed'>): Promise<Settlement> {
  const { store, queue, github } = at;
  const { repository, number, isPull, actor } = trigger;
  const tasks = (await store.tasks.ofPull(repository.id, number)).filter(
    (task) => task.outcome === null && task.kind !== 'batch',
  );
  if (tasks.length === 0) return ignoredFor('nothing is open for it');
  const now = await (isPull
    ? github.readPullRequest(repository, number)
    : github.readIssue(repository, number));
  if (typeof now !== 'string' && now.open) return ignoredFor('it is open again');
  const what = isPull ? 'pull request' : 'issue';
  const detail = `${actor} closed the ${what}`;
  for (const task of tasks) {
    await store.tasks.settle(task.id, 'cancelled', { code: 'cancelled', detail });
    await queue.enqueue('publish', task.id, { priority: priorities.request });
  }
  return admitted;
}

/** Lets what waits for an approval here begin; returns it. */
export async function approveTasks(at: Admitting, trigger: TriggerOf<'commands'>): Promise<Task[]> {
  const { store, queue } = at;
  const { repository, issue } = trigger;
  const waiting = (await store.tasks.heldIn(repository.id)).filter((task) => task.number === issue);
  const approved: Task[] = [];
  for (const task of waiting) {
    if (!(await store.tasks.release(task.id))) continue;
    approved.push(task);
    await queue.enqueue('plan', task.id, { priority: task.priority });
    await queue.enqueue('publish', task.id, { priority: task.priority });
  }
  return approved;
}
