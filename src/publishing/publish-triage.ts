import type { Triage } from '../domain/triage.ts';
import { labelsByRules, triageByRules } from '../domain/triage-rules.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Task } from '../store/port.ts';
import { ask } from './ask-github.ts';
import { finishTask } from './finish-task.ts';
import { type HomeDeps, publishHome, repositoryOf } from './home-comment.ts';
import { labelsKey, publishLabels } from './labels.ts';
import { renderHeld } from './render-change.ts';
import { renderTriage, renderTriageFailure } from './render-triage.ts';
import { publishComment } from './write-comment.ts';

export function triageKey(task: Pick<Task, 'repositoryId' | 'number'>): string {
  return `triage:${task.repositoryId}:${task.number}`;
}

/**
 * Labels of the repository's own are added, none is removed; one comment per issue, which a later triage updates,
 * so that nobody is asked twice. Nothing is closed.
 */
export async function publishTriage(deps: HomeDeps, view: TaskView, signal: AbortSignal): Promise<void> {
  const { task } = view;
  if (task.phase === 'held') {
    if (task.startAfter === null) await publishHome(deps, task, renderHeld(view), 'final', signal);
    return;
  }
  if (task.outcome === null) return;
  const triage = task.outcome === 'cancelled' ? undefined : triageOf(view);
  if (triage === undefined) await publishHome(deps, task, renderTriageFailure(view), 'final', signal);
  else await publishResult(deps, view, triage, signal);
  await finishTask(deps, task);
}

/** What the agent found, with the labels of the repository's rules; of the rules alone where no agent triages. */
function triageOf({ task, triages }: TaskView): Triage | undefined {
  const rules = task.config?.triage.rules ?? [];
  if (task.config?.triage.agent === 'none' && task.failure === null) return triageByRules(rules, task);
  const triage = triages[0]?.triage;
  return triage && { ...triage, labels: [...new Set([...labelsByRules(rules, task), ...triage.labels])] };
}

async function publishResult(
  deps: HomeDeps,
  { task }: TaskView,
  triage: Triage,
  signal: AbortSignal,
): Promise<void> {
  const { publications } = deps.store;
  const row = await publications.get(triageKey(task));
  const known = row?.status === 'done' && row.taskId === task.id;
  if (!known && (await isClosed(deps, task, signal))) {
    const key = `reply:task:${task.id}`;
    await publications.begin(key, 'comment', task.id);
    await publications.fail(key, { code: 'github_refused', detail: 'the issue was closed meanwhile' });
    return;
  }
  const add = triage.labels.filter((name) => isAllowed(task, name));
  await publishLabels(deps, task, task.number, { add, remove: [], create: false }, signal);
  const labels = await publications.get(labelsKey(task.id, task.number));
  const there = labels?.detail['set'];
  const set = labels?.status === 'done' && Array.isArray(there) ? there.map(String) : [];
  // Nobody asked, and there is nothing to say.
  const silent = task.config?.triage.agent === 'none' && task.trigger.kind !== 'command' && set.length === 0;
  if (silent) return;
  await publishComment(
    deps,
    {
      key: triageKey(task),
      repository: repositoryOf(task),
      issue: task.number,
      body: renderTriage(triage, set, task.number),
      taskId: task.id,
    },
    signal,
  );
}

/** Of the list of the repository file, else any but ours; that the repository has it is seen when it is set. */
function isAllowed(task: Task, name: string): boolean {
  if (/^patchfleet:/i.test(name.trim())) return false;
  const list = task.config?.triage.labels ?? null;
  return list === null || list.some((label) => label.toLowerCase() === name.toLowerCase());
}

/** What cannot be read is left to the writes, which say what is the matter. */
async function isClosed(deps: HomeDeps, task: Task, signal: AbortSignal): Promise<boolean> {
  const client = await deps.github.client(task.installationId);
  const answer = await ask('the issue could not be read', signal, () =>
    client.rest.issues.get({
      owner: task.owner,
      repo: task.repo,
      issue_number: task.number,
      request: { signal },
    }),
  );
  return answer.refused === null && answer.data.state !== 'open';
}
