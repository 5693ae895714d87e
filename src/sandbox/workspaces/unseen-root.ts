import { randomBytes } from 'node:crypto';
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { containerSpec } from '../container/container-spec.ts';
import { engineProblem, engineStatus } from '../container/docker-host.ts';
import { removeContainer } from '../container/remove-container.ts';
import type { OnceOptions } from './run-once.ts';
import { workspaceId } from './workspaces.ts';

/**
 * Why the engine cannot mount what is below `root`, which is there: it is not on this machine, or sees other
 * directories. With the remedy; null: it can, or does not say. A container is made for it, and never started.
 */
export async function unseenRoot(
  { config, engine, instance, worker, user }: OnceOptions,
  root: string,
): Promise<string | null> {
  const docker = engine.requests;
  const name = `patchfleet-${randomBytes(8).toString('hex')}`;
  // Of a name that no other machine has, and by which the reaper finds what a death leaves.
  const dir = join(root, workspaceId(worker, name));
  const identity = { instance, worker, name, workspace: { kind: 'bind', dir }, user } as const;
  await mkdir(dir, { mode: 0o700 });
  try {
    const container = await docker.createContainer(containerSpec(config, {}, identity));
    await removeContainer(docker, container.id);
    return null;
  } catch (thrown) {
    const unseen =
      engineStatus(thrown) === 400 && engineProblem(thrown).includes('source path does not exist');
    return unseen ? notHere(root) : null;
  } finally {
    await rmdir(dir);
  }
}

const notHere = (root: string) =>
  `The Docker engine does not see ${root}: it runs on another machine, or this process runs in a container where that is another directory. Let DOCKER_HOST name the engine of this machine, and let a container have the data directory by the path that it has on the machine.`;
