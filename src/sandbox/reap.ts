import type Docker from 'dockerode';
import { PatchfleetError } from '../domain/failure.ts';
import { labels } from './container/container-spec.ts';
import { engineProblem } from './container/docker-host.ts';
import { removeContainer } from './container/remove-container.ts';
import type { Egress } from './egress/open-egress.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { visitors } from './visitor.ts';
import type { Workspaces } from './workspaces/workspaces.ts';

/**
 * Removes what dead workers left: containers with the label of this instance and workspaces. What cannot be removed
 * is logged and left for the next time; containers first, so that no workspace is taken from under one. Fails with
 * `sandbox_unavailable` when the engine cannot be asked, or else with whatever `isAlive` throws.
 */
export async function reap(
  from: {
    readonly docker: Docker;
    readonly instance: string;
    readonly worker: string;
    /** What of this worker's, by name or id, it has in use or is about to make. Null: it cannot tell now. */
    readonly inUse: () => ReadonlySet<string> | null;
    readonly workspaces: Workspaces;
    readonly visitorsDir: string;
    readonly egress: Egress;
    readonly log: SandboxLog;
  },
  isAlive: (worker: string) => Promise<boolean>,
): Promise<{ containers: number; workspaces: number }> {
  const { docker, instance, workspaces, egress, log } = from;
  const usedBefore = from.inUse();
  // Listed before the containers: one that is made meanwhile is not in the list.
  const found = await ask(workspaces.all());
  const sockets = await egress.all();
  const filters = { label: [`${labels.instance}=${instance}`] };
  const containers = await ask(docker.listContainers({ all: true, filters }));
  // After the lists: whose is in them had come by then.
  const about = await visitors(from.visitorsDir);
  const answers = new Map<string, Promise<boolean>>();
  const alive = (worker: string) => {
    const answer = answers.get(worker) ?? (about.has(worker) ? Promise.resolve(true) : isAlive(worker));
    answers.set(worker, answer);
    return answer;
  };
  const isLeft = async (worker: string, nameOrId: string) => {
    if (worker !== from.worker) return !(await alive(worker));
    const used = from.inUse();
    // What was in use when the lists were made may be going by itself.
    return used !== null && usedBefore !== null && !used.has(nameOrId) && !usedBefore.has(nameOrId);
  };

  const removed = { containers: 0, workspaces: 0 };
  const kept = new Set<string>();
  for (const container of containers) {
    const worker = container.Labels[labels.worker];
    // The engine filtered already; asked again because removing a stranger's container cannot be undone.
    if (container.Labels[labels.instance] !== instance || worker === undefined) continue;
    const name = (container.Names[0] ?? '').replace(/^\//, '');
    if (!(await isLeft(worker, name))) continue;
    try {
      if (await removeContainer(docker, container.Id)) removed.containers += 1;
    } catch (thrown) {
      kept.add(worker);
      log.warn({ container: container.Id, problem: engineProblem(thrown) }, 'a container cannot be removed');
    }
  }
  for (const { id, worker } of found) {
    if (kept.has(worker) || !(await isLeft(worker, id))) continue;
    try {
      await workspaces.remove(id);
      removed.workspaces += 1;
    } catch (thrown) {
      log.warn({ workspace: id, problem: engineProblem(thrown) }, 'a workspace cannot be removed');
    }
  }
  for (const { id, worker } of sockets) {
    if (worker === from.worker ? egress.isMine(id) : kept.has(worker) || (await alive(worker))) continue;
    await egress.remove(id).catch((thrown: unknown) => {
      log.warn({ socket: id, problem: engineProblem(thrown) }, 'a socket cannot be removed');
    });
  }
  return removed;
}

async function ask<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
  }
}
