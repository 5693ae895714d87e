import { PatchfleetError } from '../domain/failure.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Answer, PublishingDeps } from './ask-github.ts';
import {
  type ChangeKeys,
  type ChangeOutcome,
  changeKeys,
  type Integration,
  readIntegrations,
  settledOutcome,
} from './change.ts';
import type { ChangeContext, ChangeDeps } from './change-context.ts';
import { repositoryOf } from './home-comment.ts';
import { publishPatch } from './publish-patch.ts';
import { type Publishable, writeBranch } from './write-branch.ts';
import { writePull } from './write-pull.ts';

/** Candidates that are made for one pull request, while its target keeps moving. */
const maxRounds = 5;

/**
 * Brings the candidate of an integrating subtask to GitHub: branch and draft pull request, or a comment with the
 * patch where the head is in a fork. Its rows are settled afterwards, unless the target moved: then integrating
 * was opened again. The rows are read under the lock, so that no other replica's older view counts.
 */
export function publishChange(
  deps: ChangeDeps,
  taskId: string,
  subtask: { readonly id: string; readonly issue: number | null },
  onMoved: 'integrate_again' | 'say_so',
  signal: AbortSignal,
): Promise<ChangeOutcome> {
  const keys = changeKeys(taskId, subtask.issue);
  return deps.store.withLock(`publish:${keys.branch}`, async () => {
    const settled = await readSettled(deps, keys);
    if (settled !== null) return settled;
    const view = await deps.store.views.task(taskId);
    if (view === null) return { kind: 'none' };
    if (view.task.outcome === null) return { kind: 'moved' };
    const integration = readIntegrations(view).find((one) => one.subtask.id === subtask.id);
    const candidate = integration?.candidate ?? null;
    if (integration === undefined || !isPublishable(view, candidate)) return { kind: 'none' };
    const { task } = view;
    const client = await deps.github.client(task.installationId);
    const mirror = await deps.mirrors.open(repositoryOf(task));
    const context = { deps, client, mirror, view, signal };
    // Another replica's mirror has it, or the mirror was lost: it is made again where this one can see it.
    if (!(await mirror.has(candidate.commit))) {
      if (onMoved === 'say_so') return { kind: 'moved' };
      return integrateAgain(context, keys, integration, {
        code: 'git_failed',
        detail: `the candidate ${candidate.commit} is not in this mirror`,
      });
    }
    const answer = await settle(context, keys, integration, candidate);
    if (answer === 'moved') {
      if (onMoved === 'say_so') return { kind: 'moved' };
      return integrateAgain(context, keys, integration, {
        code: 'target_moving',
        detail: `${task.targetRef || 'the head'} moved ${maxRounds} times while the result was verified`,
      });
    }
    return (await readSettled(deps, keys)) ?? { kind: 'none' };
  });
}

function isPublishable(view: TaskView, candidate: Integration['candidate']): candidate is Publishable {
  const { outcome, failure } = view.task;
  const over = (outcome === 'succeeded' || outcome === 'partial') && failure === null;
  return over && candidate !== null && candidate.commit !== null && candidate.tree !== null;
}

/** Writes; a final no is recorded in the row of what it was about. */
async function settle(
  context: ChangeContext,
  keys: ChangeKeys,
  integration: Integration,
  candidate: Publishable,
): Promise<'settled' | 'moved'> {
  if (context.view.task.fork) return publishPatch(context, keys, integration, candidate);
  const { publications } = context.deps.store;
  const branch = await publications.get(keys.branch);
  if (branch?.status !== 'done') {
    const answer = await recordFailure(context, keys.branch, () =>
      writeBranch(context, keys, integration, candidate),
    );
    if (answer === null) return 'settled';
    if (answer === 'moved') return 'moved';
  }
  await recordFailure(context, keys.pull, () => writePull(context, keys, integration));
  return 'settled';
}

/** Null: it failed for good, and its row says why. */
async function recordFailure<T>(
  { deps, view }: ChangeContext,
  key: string,
  write: () => Promise<Answer<T>>,
): Promise<T | null> {
  const fail = async (code: PatchfleetError['code'], detail: string) => {
    deps.log.warn({ task: view.task.id, key, code, detail }, 'not published');
    await deps.store.publications.fail(key, { code, detail });
    return null;
  };
  try {
    const answer = await write();
    if (answer.refused === null) return answer.data;
    return await fail('github_refused', answer.refused.detail);
  } catch (error) {
    if (!(error instanceof PatchfleetError)) throw error;
    if (error.code === 'github_unavailable' || error.code === 'git_failed') throw error;
    return await fail(error.code, error.detail);
  }
}

async function integrateAgain(
  { deps, view }: ChangeContext,
  keys: ChangeKeys,
  integration: Integration,
  atLast: { code: PatchfleetError['code']; detail: string },
): Promise<ChangeOutcome> {
  const { task } = view;
  const { subtask, rounds } = integration;
  if (rounds >= maxRounds) {
    const [key, kind] = task.fork ? ([keys.patch, 'comment'] as const) : ([keys.branch, 'branch'] as const);
    await deps.store.publications.begin(key, kind, task.id);
    await deps.store.publications.fail(key, atLast);
    return { kind: 'refused', failure: atLast };
  }
  deps.log.info({ task: task.id, subtask: subtask.id, rounds, why: atLast.code }, 'integrating again');
  await deps.store.tasks.reopenIntegration(task.id, subtask.id);
  await deps.queue.enqueue('advance', task.id, { priority: task.priority });
  return { kind: 'moved' };
}

async function readSettled(deps: PublishingDeps, keys: ChangeKeys): Promise<ChangeOutcome | null> {
  const { publications } = deps.store;
  return settledOutcome(keys, {
    branch: await publications.get(keys.branch),
    pull: await publications.get(keys.pull),
    patch: await publications.get(keys.patch),
  });
}
