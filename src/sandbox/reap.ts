import type Docker from 'dockerode';
import { PatchfleetError } from '../domain/failure.ts';
import { labels } from './container-spec.ts';
import { engineProblem } from './docker-host.ts';
import { removeContainer } from './remove-container.ts';
import type { SandboxLog } from './sandbox-log.ts';
import type { Workspaces } from './workspaces.ts';

/**
 * Removes what dead workers left: containers with the label of this instance and workspaces, both of attempts
 * that are not alive. What cannot be removed is logged and left for the next time. Fails with
 * `sandbox_unavailable` when the engine cannot be asked, or else with whatever `live` throws.
 */
export async function reap(
  from: { docker: Docker; instance: string; workspaces: Workspaces; log: SandboxLog },
  live: (attemptId: string) => Promise<boolean>,
): Promise<{ containers: number; workspaces: number }> {
  const { docker, instance, workspaces, log } = from;
  const found = await docker
    .listContainers({ all: true, filters: { label: [`${labels.instance}=${instance}`] } })
    .catch((thrown: unknown) => {
      throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
    });

  const kept = new Set<string>();
  const removed = { containers: 0, workspaces: 0 };
  for (const container of found) {
    const attemptId = container.Labels[labels.attempt];
    // The engine filtered already; asked again because removing a stranger's container cannot be undone.
    if (container.Labels[labels.instance] !== instance || attemptId === undefined) continue;
    if (await live(attemptId)) continue;
    try {
      if (await removeContainer(docker, container.Id)) removed.containers += 1;
    } catch (thrown) {
      kept.add(attemptId);
      log.warn({ container: container.Id, problem: engineProblem(thrown) }, 'a container cannot be removed');
    }
  }
  for (const workspace of await workspaces.all()) {
    if (kept.has(workspace.attemptId) || (await live(workspace.attemptId))) continue;
    try {
      await workspaces.remove(workspace.dir);
      removed.workspaces += 1;
    } catch (thrown) {
      log.warn({ workspace: workspace.dir, problem: engineProblem(thrown) }, 'a workspace cannot be removed');
    }
  }
  return removed;
}
