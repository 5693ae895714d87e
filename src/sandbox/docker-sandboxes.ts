import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { SandboxConfig } from '../config/sandbox-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { createGate } from '../domain/gate.ts';
import { checkEngine } from './check-engine.ts';
import type { SandboxUser } from './container-spec.ts';
import { createCopiedWorkspaces } from './copied-workspaces.ts';
import { connectEngine, engineProblem } from './docker-host.ts';
import { createSandboxOpener } from './open-sandbox.ts';
import type { Sandboxes } from './port.ts';
import { reap } from './reap.ts';
import type { SandboxLog } from './sandbox-log.ts';

export interface SandboxesOptions {
  /** The engine, as the docker command line takes `DOCKER_HOST`; without it the local socket. */
  readonly dockerHost?: string | undefined;
  readonly config: SandboxConfig;
  /** Names this installation (one per data directory): containers of another are never touched. */
  readonly instance: string;
  /** Name of this process, as in `workers.name`: what it started is left alone while it gives signs of life. */
  readonly worker: string;
  /** Directory of the workspaces, on the engine's machine; made if missing. */
  readonly workspacesDir: string;
  readonly log?: SandboxLog;
  /** Who owns workspaces and runs in containers; by default 10001 for a worker that is root, else the worker's own user. */
  readonly user?: SandboxUser;
}

/** Who owns workspaces and snapshots on the host and runs everything in containers. */
export function sandboxUser(): SandboxUser {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: 10_001, gid: 10_001 } : { uid, gid: process.getgid?.() ?? uid };
}

/** Sandboxes as containers of a Docker engine on this machine. */
export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { config, instance, worker } = options;
  const engine = connectEngine(options.dockerHost);
  const docker = engine.requests;
  const user = options.user ?? sandboxUser();
  const workspaces = createCopiedWorkspaces(resolve(options.workspacesDir), worker, user);
  const log = options.log ?? { warn: () => {} };
  const gate = createGate(config.concurrent_starts ?? availableParallelism());
  const { open, isMine } = createSandboxOpener({ engine, config, instance, worker, user, workspaces, log });

  const sandboxes: Sandboxes = {
    async acquire(request, signal) {
      try {
        const opened = await gate(signal, () => open(request, signal));
        return opened.handOver(request.wallMs);
      } catch (thrown) {
        signal.throwIfAborted();
        throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
      }
    },
    prewarm: () => {},
    reap: (isAlive) => reap({ docker, instance, worker, isMine, workspaces, log }, isAlive),
    async imageId(signal, image = config.image) {
      try {
        return (await docker.getImage(image).inspect()).Id;
      } catch (thrown) {
        signal.throwIfAborted();
        throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
      }
    },
    check: (images = [config.image, ...config.images]) => checkEngine(docker, images, sandboxes),
    close: async () => {},
  };
  return sandboxes;
}
