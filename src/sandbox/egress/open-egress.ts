import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { NetworkRule } from '../../config/sandbox-config.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import type { SandboxUser } from '../container/container-spec.ts';
import { engineProblem } from '../container/docker-host.ts';
import { removeTree } from '../remove-tree.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import type { EgressOptions } from './egress.ts';
import { createEgressProxy, type EgressProxy } from './proxy.ts';
import { type EgressSocket, openEgressSocket } from './sockets.ts';

/** The way out of one sandbox. */
export interface OpenEgress {
  /** Of the socket, to be mounted; null: there is none, and the stream is used. */
  readonly directory: string | null;
  /** Takes a connection that came over the stream. */
  readonly accept: (connection: Duplex) => void;
  readonly handOver: EgressProxy['handOver'];
  /** Nothing gets out any more. Never rejects; safe to call twice. */
  close(): Promise<void>;
}

export interface Egress {
  /** For the sandbox whose container has that name; null: it may reach nothing. Fails with `sandbox_unavailable`. */
  open(sandbox: string, rules: readonly NetworkRule[]): Promise<OpenEgress | null>;
  /** Directories of sockets, also those that other processes made. */
  all(): Promise<{ id: string; worker: string }[]>;
  remove(id: string): Promise<void>;
  /** Whether this process has that directory in use or is about to. */
  isMine(id: string): boolean;
}

/** Sockets lie below `root`, on the engine's machine; made if missing. */
export function createEgress(from: {
  readonly root: string;
  readonly worker: string;
  readonly user: SandboxUser;
  readonly log: SandboxLog;
  readonly options: EgressOptions | undefined;
}): Egress {
  const { root, worker, user, log, options } = from;
  const mine = new Set<string>();
  let making = 0;

  async function socketFor(sandbox: string, proxy: EgressProxy): Promise<EgressSocket | null> {
    if (options?.transport === 'stream') return null;
    making += 1;
    try {
      const socket = await openEgressSocket(root, worker, user, proxy.accept);
      mine.add(socket.id);
      return socket;
    } catch (thrown) {
      const problem = engineProblem(thrown);
      log.warn({ container: sandbox, problem }, 'no socket for the way out of a sandbox; its stream is used');
      return null;
    } finally {
      making -= 1;
    }
  }

  return {
    async open(sandbox, rules) {
      if (rules.length === 0) return null;
      if (options === undefined)
        throw new PatchfleetError(
          'sandbox_unavailable',
          'a network is asked for, and there is no record of it',
        );
      const proxy = createEgressProxy(sandbox, rules, options);
      const socket = await socketFor(sandbox, proxy);
      let closing: Promise<void> | null = null;
      return {
        directory: socket?.directory ?? null,
        accept: proxy.accept,
        handOver: proxy.handOver,
        close() {
          closing ??= (async () => {
            await proxy.close();
            if (socket === null) return;
            await socket.close().catch((thrown: unknown) => {
              log.warn(
                { container: sandbox, problem: engineProblem(thrown) },
                'a socket is left to the reaper',
              );
            });
            mine.delete(socket.id);
          })();
          return closing;
        },
      };
    },
    all: () => listWorkspaces(root),
    remove: (id) => removeTree(join(root, id)),
    isMine: (id) => making > 0 || mine.has(id),
  };
}
