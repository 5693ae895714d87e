import type Docker from 'dockerode';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { PatchfleetError } from '../../domain/failure.ts';

/** What runs containers: the engine's default, or one that the operator chose. */

export type RuntimeChoice = Pick<SandboxConfig, 'isolation' | 'runtime'>;

/** gVisor: a kernel of its own for each sandbox, in user space. */
const strictRuntime = 'runsc';

/** Names by which engines offer runc, which shares the kernel of the host: not what `strict` asks for. */
const sharesKernel = (name: string) =>
  /^(?:runc|crun|io\.containerd\.runc\.|io\.containerd\.runtime\.v1\.)/.test(name);

/** Name of the runtime for `HostConfig.Runtime`; null: the engine's default. */
export function runtimeOf({ isolation, runtime }: RuntimeChoice): string | null {
  return runtime ?? (isolation === 'strict' ? strictRuntime : null);
}

/** Whether sandboxes are known to have a kernel that is not the host's. */
export function hasOwnKernel(choice: RuntimeChoice): boolean {
  return choice.isolation === 'strict' || runtimeOf(choice)?.startsWith(strictRuntime) === true;
}

/** Threads that a runtime needs beside the processes of its container, within the same bound: gVisor's kernel does. */
export function ownThreads(runtime: string | null): number {
  return runtime?.startsWith(strictRuntime) ? 512 : 0;
}

/** What is wrong with the choice on an engine that offers these runtimes, with its remedy; null: nothing. */
export function runtimeProblem(choice: RuntimeChoice, offered: readonly string[]): string | null {
  const name = runtimeOf(choice);
  if (name === null) return null;
  if (choice.isolation === 'strict' && sharesKernel(name)) {
    return `\`sandbox.isolation\` is \`strict\`, but \`sandbox.runtime\` is ${name}, which shares the kernel of the host. Leave \`sandbox.runtime\` out, or set \`sandbox.isolation: standard\`.`;
  }
  if (offered.includes(name)) return null;
  const known = offered.length === 0 ? 'none' : offered.join(', ');
  const install =
    name === strictRuntime
      ? 'Install gVisor (on Debian: `apt-get install runsc`), add it to the engine with `runsc install` and restart the engine'
      : 'Add it to the engine (`runtimes` in /etc/docker/daemon.json) and restart the engine';
  const without =
    choice.runtime === null ? 'set `sandbox.isolation: standard`' : 'name another one in `sandbox.runtime`';
  return `The Docker engine does not offer the runtime ${name} (it offers ${known}). ${install}, or ${without}.`;
}

/**
 * Asks the engine what it offers, where the operator chose a runtime; see {@link runtimeProblem}. Rejects when the
 * engine does not answer.
 */
export async function findRuntimeProblem(
  docker: Pick<Docker, 'info'>,
  choice: RuntimeChoice,
): Promise<string | null> {
  if (runtimeOf(choice) === null) return null;
  const { Runtimes: offered } = (await docker.info()) as { Runtimes?: Readonly<Record<string, unknown>> };
  return runtimeProblem(choice, Object.keys(offered ?? {}));
}

/**
 * Fails with `sandbox_unavailable` while the engine does not offer the runtime that was chosen. What it offered once
 * is not asked for again: an engine restarted without it says so itself.
 */
export function createRuntimeCheck(docker: Docker, choice: RuntimeChoice): () => Promise<void> {
  let offered = false;
  return async () => {
    if (offered) return;
    const problem = await findRuntimeProblem(docker, choice);
    if (problem !== null) throw new PatchfleetError('sandbox_unavailable', problem);
    offered = true;
  };
}
