import type { TaskView } from '../store/port/views.ts';
import type { Store } from '../store/port.ts';
import { finishTask } from './finish-task.ts';
import { type HomeDeps, publishHome } from './home-comment.ts';
import type { PlanBounds } from './plan-bounds.ts';
import { renderHeld, renderProgress } from './render-change.ts';
import { renderPlan } from './render-plan.ts';

/** A change that is planned and not run: one comment, no label, no pull request. */
export async function publishPlan(
  deps: HomeDeps & { readonly store: Pick<Store, 'figures'>; readonly planBounds: PlanBounds },
  view: TaskView,
  signal: AbortSignal,
): Promise<void> {
  const { task } = view;
  if (task.phase === 'held') return publishHome(deps, task, renderHeld(view), 'final', signal);
  if (task.outcome === null) return publishHome(deps, task, renderProgress(view), 'progress', signal);
  const { store, planBounds } = deps;
  const agents = [...new Set(view.subtasks.filter(({ kind }) => kind === 'agent').map(({ agent }) => agent))];
  const edges = Map.groupBy(await store.views.dependencies(task.id), ({ subtaskId }) => subtaskId);
  const body = renderPlan(view, {
    dependsOn: new Map([...edges].map(([id, list]) => [id, list.map(({ dependsOn }) => dependsOn)])),
    used: await store.figures.changeUse(task.repositoryId),
    priceOf: planBounds.priceOf,
    bounds: await planBounds.boundsOf(agents),
    taskTokens: planBounds.taskTokens,
  });
  await publishHome(deps, task, body, 'final', signal);
  await finishTask(deps, task);
}
