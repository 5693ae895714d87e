import { randomBytes } from 'node:crypto';
import { posix, resolve } from 'node:path';
import { defaultMaxBuffer, greatestMaxBuffer, lookupLimitMs } from '../../sandbox/protocol.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { createGate } from '../domain/gate.ts';
import { checkEngine } from './check-engine.ts';
import {
  containerSpec,
  type SandboxConfig,
  type SandboxUser,
  workspaceInContainer,
} from './container-spec.ts';
import { cpuTime } from './cpu-time.ts';
import { connectEngine, engineProblem } from './docker-host.ts';
import { harvestWorkspace } from './harvest.ts';
import type { HarvestEntry, RunResult, Sandbox, Sandboxes, SandboxRequest } from './port.ts';
import { reap } from './reap.ts';
import { removeContainer } from './remove-container.ts';
import { type EngineRun, runByEngine } from './run-by-engine.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { type StartedContainer, startContainer } from './start-container.ts';
import { stopContainer } from './stop-container.ts';
import { createWorkspaces } from './workspaces.ts';

export interface SandboxesOptions {
  /** The engine, as the docker command line takes `DOCKER_HOST`; without it the local socket. */
  readonly dockerHost?: string | undefined;
  readonly config: SandboxConfig;
  /** Names this installation (one per data directory): containers of another are never touched. */
  readonly instance: string;
  /** Directory of the workspaces, on the engine's machine; made if missing. */
  readonly workspacesDir: string;
  readonly log?: SandboxLog;
  /** Who owns workspaces and runs in containers; by default 10001 for a worker that is root, else the worker's own user. */
  readonly user?: SandboxUser;
}

/** Beyond the limit that the tool server keeps itself, how long its answer may take, ms. */
const answerSlackMs = 15_000;
const lookupDeadlineMs = lookupLimitMs + answerSlackMs;
/** Some 23 days: timers take little more, and fire at once beyond it. */
const greatestWallMs = 2_000_000_000;

const defaultUser = (): SandboxUser => {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: 10_001, gid: 10_001 } : { uid, gid: process.getgid?.() ?? uid };
};

/** Sandboxes as containers of a Docker engine on this machine. */
export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { config, instance } = options;
  const engine = connectEngine(options.dockerHost);
  const docker = engine.requests;
  const user = options.user ?? defaultUser();
  const workspaces = createWorkspaces(resolve(options.workspacesDir), user);
  const log = options.log ?? { warn: () => {} };
  const gate = createGate(config.concurrent_starts);

  /** Container first: a workspace is never taken from under a running agent. Never rejects. */
  async function discard(name: string, workspace: string): Promise<void> {
    try {
      await removeContainer(docker, name);
      await workspaces.remove(workspace);
    } catch (thrown) {
      log.warn(
        { container: name, workspace, problem: engineProblem(thrown) },
        'a sandbox is left to the reaper',
      );
    }
  }

  async function start(request: SandboxRequest, signal: AbortSignal): Promise<Sandbox> {
    const name = `patchfleet-${randomBytes(8).toString('hex')}`;
    const workspace = (await workspaces.create(request.snapshot, request.attemptId, signal)).dir;
    let container: StartedContainer;
    try {
      const spec = containerSpec(config, request, { instance, name, workspaceDir: workspace, user });
      container = await startContainer(engine, spec, signal);
    } catch (thrown) {
      await discard(name, workspace);
      throw thrown;
    }
    const harvest = async (abort: AbortSignal): Promise<HarvestEntry[]> => {
      await stopContainer(docker, name, abort);
      return await harvestWorkspace({ workspace, snapshot: request.snapshot }, abort);
    };
    const byEngine = (run: EngineRun) => runByEngine(engine, container.id, run);
    return sandboxOf(container, request, {
      harvest,
      byEngine,
      cpuMs: () => cpuTime(docker, container.id),
      discard: () => discard(name, workspace),
    });
  }

  const sandboxes: Sandboxes = {
    async acquire(request, signal) {
      try {
        return await gate(signal, () => start(request, signal));
      } catch (thrown) {
        signal.throwIfAborted();
        throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
      }
    },
    reap: (live) => reap({ docker, instance, workspaces, log }, live),
    async imageId(signal) {
      try {
        return (await docker.getImage(config.image).inspect()).Id;
      } catch (thrown) {
        signal.throwIfAborted();
        throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
      }
    },
    check: () => checkEngine(docker, config, sandboxes),
  };
  return sandboxes;
}

function sandboxOf(
  container: StartedContainer,
  request: SandboxRequest,
  ends: {
    readonly harvest: (signal: AbortSignal) => Promise<HarvestEntry[]>;
    readonly byEngine: (run: EngineRun) => Promise<RunResult>;
    readonly cpuMs: () => Promise<number | null>;
    readonly discard: () => Promise<void>;
  },
): Sandbox {
  const { client } = container;
  let closing: Promise<void> | null = null;
  const wallMs = Math.min(request.wallMs, greatestWallMs);
  const wall = setTimeout(() => {
    client.end(new PatchfleetError('wall_limit', `the sandbox reached its limit of ${wallMs} ms`));
    container.detach();
  }, wallMs);
  wall.unref();

  return {
    containerId: container.id,
    workspace: workspaceInContainer,
    list: (path, { limit = 1000, signal }) =>
      client.call({ op: 'list', path, limit: Math.min(limit, 10_000) }, signal, lookupDeadlineMs),
    read: (path, { start = 1, end, signal }) =>
      client.call(
        { op: 'read', path, start: Math.max(1, start), end: end ?? null },
        signal,
        lookupDeadlineMs,
      ),
    search: (pattern, { path = '', limit = 200, signal }) =>
      client.call({ op: 'search', pattern, path, limit: Math.min(limit, 2000) }, signal, lookupDeadlineMs),
    run(argv, { cwd = '', env = {}, maxBuffer = defaultMaxBuffer, stdin = '', signal, ...limits }) {
      // No run outlives its sandbox.
      const runMs = Math.min(limits.wallMs, wallMs);
      const idleMs = limits.idleMs === undefined ? null : Math.min(limits.idleMs, runMs);
      const kept = Math.min(maxBuffer, greatestMaxBuffer);
      const request = { op: 'run', argv, cwd, env, wallMs: runMs, idleMs, maxBuffer: kept, stdin } as const;
      return client.call(request, signal, runMs + answerSlackMs);
    },
    runByEngine: (argv, { cwd = '', env = {}, maxBuffer = defaultMaxBuffer, ...rest }) =>
      ends.byEngine({
        ...rest,
        argv,
        cwd: posix.join(workspaceInContainer, cwd),
        env,
        maxBuffer: Math.min(maxBuffer, greatestMaxBuffer),
      }),
    cpuMs: ends.cpuMs,
    async write(path, content, { executable = null, signal }) {
      await client.call({ op: 'write', path, content, executable }, signal, lookupDeadlineMs);
    },
    edit: (path, old, replacement, { signal }) =>
      client.call({ op: 'edit', path, old, replacement }, signal, lookupDeadlineMs),
    async remove(path, { signal }) {
      await client.call({ op: 'remove', path }, signal, lookupDeadlineMs);
    },
    async harvest(signal) {
      client.end(new PatchfleetError('sandbox_died', 'the sandbox was stopped for its patch to be read'));
      return await ends.harvest(signal);
    },
    close() {
      closing ??= (async () => {
        clearTimeout(wall);
        client.end(new PatchfleetError('sandbox_died', 'the sandbox was closed'));
        container.detach();
        await ends.discard();
      })();
      return closing;
    },
  };
}
