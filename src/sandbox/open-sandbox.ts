import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { SandboxConfig } from '../config/sandbox-config.ts';
import { containerSpec, type SandboxUser } from './container/container-spec.ts';
import { cpuTime } from './container/container-use.ts';
import { type Engine, engineProblem } from './container/docker-host.ts';
import { ensureLoopbackNames } from './container/loopback-names.ts';
import { removeContainer } from './container/remove-container.ts';
import { runByEngine } from './container/run-by-engine.ts';
import { createRuntimeCheck } from './container/runtime.ts';
import { type StartedContainer, startContainer } from './container/start-container.ts';
import { stopContainer } from './container/stop-container.ts';
import type { Egress, OpenEgress } from './egress/open-egress.ts';
import type { Sandbox, SandboxKind, SandboxRequest } from './port.ts';
import { sandboxCalls } from './sandbox-calls.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { sandboxProblem } from './sandbox-problem.ts';
import { createDiskWatch, diskLimits } from './workspaces/disk-watch.ts';
import { newWorkspaceId, type Workspace, type Workspaces } from './workspaces/workspaces.ts';

/** How long the engine is asked to end a container that wrote too much, ms. */
const stopLimitMs = 30_000;

/** A container that runs over a workspace of its own, not yet given to anybody. */
export interface OpenSandbox {
  readonly container: StartedContainer;
  /** Resolves with the reason once nothing can be asked of it any more. */
  readonly over: Promise<Error>;
  /**
   * What keeps it from being handed over; null: it answers, is of the image that the image's name means now, and stands
   * on the directories that are in place now. Never rejects, and does not take long.
   */
  problem(): Promise<string | null>;
  /** Hands it over, once: it is over after `wallMs`. `who` is told to the record of what it reaches. */
  handOver(wallMs: number, who?: Pick<SandboxRequest, 'taskId' | 'attemptId'>): Sandbox;
  /** Removes container and workspace. Never rejects; safe to call twice. */
  discard(): Promise<void>;
}

export interface OpenSandboxDependencies {
  readonly engine: Engine;
  readonly config: SandboxConfig;
  readonly instance: string;
  readonly worker: string;
  readonly user: SandboxUser;
  readonly workspaces: Workspaces;
  /** Where `/etc/hosts` of the sandboxes lies, on the engine's machine; made where it is missing. */
  readonly hosts: string;
  /** Without it no sandbox reaches anything. */
  readonly egress?: Egress;
  readonly log: SandboxLog;
}

/** Opens sandboxes, and knows which containers and workspaces are in use by this process. */
export function createSandboxOpener(deps: OpenSandboxDependencies): {
  readonly open: (kind: SandboxKind, signal: AbortSignal) => Promise<OpenSandbox>;
  /** Names of containers and ids of workspaces, of those about to be made as well. Null: nobody can tell now. */
  readonly inUse: () => ReadonlySet<string> | null;
} {
  const { engine, config, instance, worker, user, workspaces, egress, log } = deps;
  const docker = engine.requests;
  const diskWatch = createDiskWatch(workspaces.room, diskLimits(config), log);
  const requireRuntime = createRuntimeCheck(docker, config);
  const mine = new Set<string>();
  /** Before the first workspace is made, ways to make them are tried: what that takes has no name that is known here. */
  let trying = 0;
  let tried = false;

  /** Container first: a workspace is never taken from under a running agent. Never rejects. */
  async function discard(name: string, workspace: Workspace, wayOut: OpenEgress | null): Promise<void> {
    const closed = wayOut?.close();
    try {
      await removeContainer(docker, name);
      await workspace.remove();
      await closed;
    } catch (thrown) {
      log.warn(
        { container: name, workspace: workspace.id, problem: engineProblem(thrown) },
        'a sandbox is left to the reaper',
      );
    }
    mine.delete(name);
    mine.delete(workspace.id);
  }

  async function makeWorkspace(kind: SandboxKind, signal: AbortSignal): Promise<Workspace> {
    const id = newWorkspaceId(worker);
    mine.add(id);
    trying += 1;
    try {
      const workspace = await workspaces.create(kind, signal, id);
      tried = true;
      return workspace;
    } catch (thrown) {
      mine.delete(id);
      throw thrown;
    } finally {
      trying -= 1;
    }
  }

  async function open(kind: SandboxKind, signal: AbortSignal): Promise<OpenSandbox> {
    const name = `patchfleet-${randomBytes(8).toString('hex')}`;
    await requireRuntime();
    const standsOn = await directoriesOf(kind);
    const workspace = await makeWorkspace(kind, signal);
    mine.add(name);
    let container: StartedContainer;
    let wayOut: OpenEgress | null = null;
    try {
      wayOut = (await egress?.open(name, kind.network ?? [])) ?? null;
      const hosts = await ensureLoopbackNames(deps.hosts);
      const identity = { instance, worker, name, workspace: workspace.mount, user, hosts, egress: wayOut };
      const spec = containerSpec(config, kind, identity);
      container = await startContainer(engine, spec, signal, wayOut?.accept ?? null);
    } catch (thrown) {
      await discard(name, workspace, wayOut);
      throw thrown;
    }
    let discarding: Promise<void> | null = null;
    const discardOnce = () => {
      discarding ??= discard(name, workspace, wayOut);
      return discarding;
    };
    return {
      container,
      over: container.client.over,
      async problem() {
        if ((await directoriesOf(kind)) !== standsOn) return 'what it stands on was made anew';
        return await sandboxProblem(docker, container, kind.image ?? config.image);
      },
      handOver(wallMs, who) {
        if (who !== undefined) wayOut?.handOver(who);
        const online = (kind.network ?? []).length > 0;
        const calls = sandboxCalls(container, wallMs, {
          harvest: async (abort) => {
            await stopContainer(docker, name, abort);
            return await workspace.harvest(abort);
          },
          keep: async (dir, abort) => {
            await stopContainer(docker, name, abort);
            await workspace.keep(dir);
          },
          byEngine: (run) => runByEngine(engine, container.id, run),
          cpuMs: () => cpuTime(docker.getContainer(container.id)),
          watchDisk: (onReached) =>
            diskWatch.start(workspace, (error) => {
              onReached(error);
              // The tool server may not notice that it is alone: what writes must end now.
              stopContainer(docker, name, AbortSignal.timeout(stopLimitMs)).catch((thrown: unknown) =>
                log.warn({ container: name, problem: engineProblem(thrown) }, 'it may write on'),
              );
            }),
          discard: discardOnce,
        });
        return { ...calls, online };
      },
      discard: discardOnce,
    };
  }

  return { open, inUse: () => (tried || trying === 0 ? new Set(mine) : null) };
}

/** Which directories are now where snapshot and prepared layer are to be: one that was made anew is another. Never rejects. */
async function directoriesOf({ snapshot, prepared }: SandboxKind): Promise<string> {
  const places = prepared ? [snapshot, prepared] : [snapshot];
  const found = await Promise.all(places.map((place) => stat(place, { bigint: true }).catch(() => null)));
  return found.map((one) => (one === null ? 'none' : `${one.dev}:${one.ino}`)).join(' ');
}
