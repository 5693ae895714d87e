import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { containerSpec } from '../container/container-spec.ts';
import type { Engine } from '../container/docker-host.ts';
import { removeContainer } from '../container/remove-container.ts';
import type { MakerPlace } from './overlay-workspaces.ts';
import type { WorkspaceMount } from './workspaces.ts';

/** What a container of ours is made with. */
export interface OnceOptions extends Omit<MakerPlace, 'root'> {
  readonly config: SandboxConfig;
  readonly engine: Engine;
  readonly instance: string;
}

/** How long a container that does next to nothing may take, ms. Cold starts on a busy machine take seconds. */
const runLimitMs = 30_000;

/**
 * Runs a program in a container of its own, as hard as a sandbox, over a workspace. Its exit code; null: it did not end
 * in time. Rejects with what the engine says, and leaves no container in any case.
 */
export async function runOnce(
  { config, engine, instance, worker, user }: OnceOptions,
  workspace: WorkspaceMount,
  argv: readonly string[],
): Promise<number | null> {
  const docker = engine.requests;
  const name = `patchfleet-${randomBytes(8).toString('hex')}`;
  const spec = containerSpec(config, {}, { instance, worker, name, workspace, user });
  const late = new AbortController();
  try {
    const container = await docker.createContainer({
      ...spec,
      ...{ Entrypoint: [...argv], Cmd: [], AttachStdin: false, OpenStdin: false },
    });
    await container.start();
    const ended = container.wait({ abortSignal: late.signal }) as Promise<{ StatusCode: number }>;
    ended.catch(() => {});
    const result = await Promise.race([ended, delay(runLimitMs, null, { signal: late.signal })]);
    return result?.StatusCode ?? null;
  } finally {
    late.abort();
    await removeContainer(docker, name);
  }
}
