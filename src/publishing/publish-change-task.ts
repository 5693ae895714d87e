import type { TaskView } from '../store/port/views.ts';
import { type IssueState, issueState, renderIssueReply } from './batch-issue.ts';
import { readIntegrations } from './change.ts';
import type { ChangeDeps } from './change-context.ts';
import { finishTask } from './finish-task.ts';
import { homeOf, publishHome, repositoryOf } from './home-comment.ts';
import { publishLabels } from './labels.ts';
import { publishChange } from './publish-change.ts';
import { type Published, renderHeld, renderProgress, renderSettled } from './render-change.ts';
import { publishComment } from './write-comment.ts';

/**
 * Fixes, batches and campaigns: pull requests first, then what tells of them, `finish` last. What GitHub refuses
 * for good is recorded in its row and does not stop the rest.
 */
export async function publishChangeTask(
  deps: ChangeDeps,
  view: TaskView,
  signal: AbortSignal,
): Promise<void> {
  const { task } = view;
  if (task.phase === 'held') {
    // What is only gathered begins by itself.
    if (task.startAfter === null) await publishHome(deps, task, renderHeld(view), 'final', signal);
    return;
  }
  if (task.outcome === null) {
    await setStates(deps, view, () => 'running', signal);
    await publishHome(deps, task, renderProgress(view), 'progress', signal);
    return;
  }
  const outcomes = await publishAll(deps, view, signal);
  if ([...outcomes.values()].some(({ kind }) => kind === 'moved')) return;
  // Another replica may have had a later candidate.
  const now = (await deps.store.views.task(task.id)) ?? view;
  if (now.task.outcome === null) return;
  const published = readIntegrations(now).map((integration) => ({
    integration,
    outcome: outcomes.get(integration.subtask.id) ?? { kind: 'none' as const },
  }));
  await setStates(deps, now, (issue) => issueState(now, published, issue), signal);
  await replyToIssues(deps, now, published, signal);
  await publishHome(deps, now.task, renderSettled(now, published), 'final', signal);
  await finishTask(deps, now.task);
}

/** By subtask. What can go out does, before a target that moved under another takes the task back to running. */
async function publishAll(
  deps: ChangeDeps,
  view: TaskView,
  signal: AbortSignal,
): Promise<Map<string, Published['outcome']>> {
  const outcomes = new Map<string, Published['outcome']>();
  const all = readIntegrations(view).map(({ subtask }) => subtask);
  const publish = async (list: typeof all, onMoved: 'integrate_again' | 'say_so') => {
    for (const subtask of list) {
      outcomes.set(subtask.id, await publishChange(deps, view.task.id, subtask, onMoved, signal));
    }
  };
  if (all.length > 1) await publish(all, 'say_so');
  const left = all.filter(({ id }) => (outcomes.get(id)?.kind ?? 'moved') === 'moved');
  await publish(left, 'integrate_again');
  return outcomes;
}

const states: readonly IssueState[] = ['running', 'done', 'failed'];

/** The labels that tell how the issues of a batch stand; the one that asked for it goes. */
async function setStates(
  deps: ChangeDeps,
  { task }: TaskView,
  stateOf: (issue: number) => IssueState,
  signal: AbortSignal,
): Promise<void> {
  if (task.kind !== 'batch') return;
  for (const { number } of task.issues) {
    const state = stateOf(number);
    const others = states.filter((other) => other !== state).map((other) => `patchfleet:${other}`);
    const change = { add: [`patchfleet:${state}`], remove: ['patchfleet:batch', ...others], create: true };
    await publishLabels(deps, task, number, change, signal);
  }
}

/** One comment on each issue of a batch; where the batch has its own comment, that one says it all. */
async function replyToIssues(
  deps: ChangeDeps,
  view: TaskView,
  published: readonly Published[],
  signal: AbortSignal,
): Promise<void> {
  const { task } = view;
  if (task.kind !== 'batch') return;
  const home = homeOf(task)?.issue;
  for (const { number } of task.issues) {
    if (number === home) continue;
    const body = renderIssueReply(view, published, number);
    const key = `reply:task:${task.id}:${number}`;
    const comment = { key, repository: repositoryOf(task), issue: number, body, taskId: task.id };
    await publishComment(deps, comment, signal);
  }
}
