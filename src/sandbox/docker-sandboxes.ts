import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { SandboxConfig } from '../config/sandbox-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { createSlots } from '../domain/slots.ts';
import { holdingBases } from './bases/hold-bases.ts';
import { checkEngine } from './check-engine.ts';
import type { SandboxUser } from './container/container-spec.ts';
import { connectEngine, type EngineTls, engineProblem } from './container/docker-host.ts';
import type { EgressOptions } from './egress/egress.ts';
import { createEgress } from './egress/open-egress.ts';
import { createSandboxOpener } from './open-sandbox.ts';
import { createPool, type PoolFigures } from './pool/pool.ts';
import type { Sandboxes, SandboxRequest } from './port.ts';
import { reap } from './reap.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { sandboxUser } from './sandbox-user.ts';
import { visitorsName } from './visitor.ts';
import { createWorkspaces } from './workspaces/create-workspaces.ts';
import { unseenRoot } from './workspaces/unseen-root.ts';

export interface SandboxesOptions {
  /** The engine, as the docker command line takes `DOCKER_HOST`; without it the local socket. */
  readonly dockerHost?: string | undefined;
  readonly dockerTls?: EngineTls;
  readonly config: SandboxConfig;
  /** Names this installation (one per data directory): containers of another are never touched. */
  readonly instance: string;
  /** Name of this process, as in `workers.name`: what it started is left alone while it gives signs of life. */
  readonly worker: string;
  /** Directory of the workspaces, on the engine's machine; made if missing. */
  readonly workspacesDir: string;
  /** How sandboxes that may reach something do; without it none may. */
  readonly egress?: EgressOptions;
  readonly log?: SandboxLog;
  /** Who owns workspaces and runs in containers; by default 10001 for a worker that is root, else the worker's own user. */
  readonly user?: SandboxUser;
}

export interface DockerSandboxes extends Sandboxes {
  /** What the pool did so far. */
  readonly figures: Readonly<PoolFigures>;
}

/** Sandboxes as containers of a Docker engine on this machine. */
export function createSandboxes(options: SandboxesOptions): DockerSandboxes {
  const { config, instance, worker } = options;
  const engine = connectEngine(options.dockerHost, options.dockerTls);
  const docker = engine.requests;
  const user = options.user ?? sandboxUser();
  const log = options.log ?? { warn: () => {} };
  const root = options.workspacesDir;
  const workspaces = holdingBases(createWorkspaces({ config, engine, instance, worker, user, root, log }));
  const beside = (name: string) => join(dirname(resolve(root)), name);
  const egress = createEgress({ root: beside('egress'), worker, user, log, options: options.egress });
  const hosts = beside('hosts');
  const opener = { engine, config, instance, worker, user, workspaces, hosts, egress, log };
  const { open, inUse } = createSandboxOpener(opener);
  const slots = createSlots(config.concurrent_starts ?? availableParallelism());
  const pool = createPool({ open, slots, config, log });

  const sandboxes: DockerSandboxes = {
    async acquire(request, signal) {
      const { taskId: task, attemptId: attempt, wallMs } = request;
      requireBelowCeiling(request, config);
      const since = performance.now();
      try {
        const { sandbox, from } = await pool.take(request, signal);
        const waitedMs = Math.round(performance.now() - since);
        const { id: container } = sandbox.container;
        log.debug?.({ task, attempt, container, warm: from !== 'cold', from, waitedMs }, 'sandbox taken');
        return sandbox.handOver(wallMs, { taskId: task, attemptId: attempt });
      } catch (thrown) {
        signal.throwIfAborted();
        const known = thrown instanceof PatchfleetError ? thrown : null;
        if (known?.code === 'sandbox_unavailable' || known?.code === 'memory_exhausted') throw known;
        const problem = known?.detail ?? engineProblem(thrown);
        throw new PatchfleetError('sandbox_unavailable', problem, { cause: thrown });
      }
    },
    prewarm: pool.prewarm,
    reap: (isAlive) =>
      reap(
        { docker, instance, worker, inUse, workspaces, egress, visitorsDir: beside(visitorsName), log },
        isAlive,
      ),
    async imageId(signal, image = config.image) {
      try {
        return (await docker.getImage(image).inspect()).Id;
      } catch (thrown) {
        signal.throwIfAborted();
        throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
      }
    },
    check: (images = [config.image, ...config.images]) =>
      checkEngine(docker, config, images, sandboxes, {
        ...{ root, worker, user },
        unseen: () => unseenRoot({ config, engine, instance, worker, user }, root),
      }),
    async close() {
      await pool.close();
      log.info?.(pool.figures, 'the pool of sandboxes is closed');
    },
    get figures() {
      return pool.figures;
    },
  };
  return sandboxes;
}

/** What a row was given stays with it; the operator may have lowered the ceiling meanwhile. */
function requireBelowCeiling(
  { memoryMib = 0 }: SandboxRequest,
  { memory_ceiling_mib: ceiling, memory_mib: base }: SandboxConfig,
): void {
  if (memoryMib <= Math.max(ceiling, base)) return;
  throw new PatchfleetError(
    'memory_ceiling',
    `it is to have ${memoryMib} MiB, and the operator allows ${ceiling} MiB (\`sandbox.memory_ceiling_mib\`)`,
  );
}
