import type Docker from 'dockerode';
import { PatchfleetError } from '../../domain/failure.ts';
import { labels } from '../container/container-spec.ts';
import { engineProblem, engineStatus } from '../container/docker-host.ts';
import { workerOf, workspaceId } from './workspaces.ts';

/** Volumes that the engine made for workspaces. */

const prefix = 'patchfleet-';
const ourName = /^patchfleet-[0-9a-f]{16}$/;

/** Removes the volume of a workspace; there may be none. Never one without our labels. */
export type VolumeRemover = (workspace: string) => Promise<void>;

export const volumeName = (workspace: string): string =>
  `${prefix}${workspace.slice((workerOf(workspace) ?? '').length + 1)}`;

export function createVolumeRemover(docker: Docker, instance: string): VolumeRemover {
  return async (workspace) => {
    const volume = docker.getVolume(volumeName(workspace));
    try {
      const { Labels: found } = (await volume.inspect()) as { Labels?: Record<string, string> | null };
      if (found?.[labels.instance] !== instance || found[labels.worker] !== workerOf(workspace)) return;
      await volume.remove();
    } catch (thrown) {
      if (engineStatus(thrown) !== 404) throw thrown;
    }
  };
}

/** The workspaces of this instance that the engine has a volume of. Fails with `sandbox_unavailable`. */
export async function workspacesWithVolume(
  docker: Docker,
  instance: string,
): Promise<{ id: string; worker: string }[]> {
  try {
    const filters = { label: [`${labels.instance}=${instance}`] };
    const { Volumes: volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) });
    return (volumes ?? []).flatMap(({ Name: name, Labels: found }) => {
      const worker = found?.[labels.worker];
      if (worker === undefined || found?.[labels.instance] !== instance || !ourName.test(name)) return [];
      return [{ id: workspaceId(worker, name.slice(prefix.length)), worker }];
    });
  } catch (thrown) {
    throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
  }
}
