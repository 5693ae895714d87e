import { PatchfleetError } from '../domain/failure.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { Mirror, Mirrors } from '../github/port.ts';
import type { KindRequest, Sandbox, Sandboxes, SandboxKinds } from '../sandbox/port.ts';
import type { Task } from '../store/port.ts';
import type { AttemptTools, Work } from './perform.ts';

/** What brings code into a sandbox. */
export interface WorkspacePorts {
  readonly mirrors: Mirrors;
  readonly kinds: SandboxKinds;
  readonly sandboxes: Sandboxes;
}

export function repositoryOf(task: Task): RepositoryRef {
  return { installationId: task.installationId, id: task.repositoryId, owner: task.owner, name: task.repo };
}

/** The mirror of the task's repository, with the task's commits in it. */
export async function openMirror(ports: WorkspacePorts, task: Task, signal: AbortSignal): Promise<Mirror> {
  const mirror = await ports.mirrors.open(repositoryOf(task));
  if (task.subject === 'pull_request')
    await mirror.fetchPullRequest(task.number, task.headSha, task.baseSha, signal);
  // What changes nothing has no target: it reads the default branch.
  else await mirror.fetchCommit(task.headSha, task.targetRef || task.baseRef, signal);
  return mirror;
}

/**
 * What is to be in a sandbox of that task over a commit of its mirror: the same for whoever asks, so that what was started
 * ahead is what an attempt takes.
 */
export function kindRequestOf(
  task: Task,
  source: { readonly mirrorDir: string; readonly commit: string },
  use: KindRequest['use'],
  memoryMib: number | null = null,
): KindRequest {
  return {
    repository: { id: task.repositoryId, mirrorDir: source.mirrorDir },
    commit: source.commit,
    config: configOf(task),
    // What a pull request brings is anybody's.
    trusted: task.subject === 'pull_request' ? task.baseSha : task.headSha,
    taskId: task.id,
    use,
    memoryMib: memoryMib ?? undefined,
  };
}

/** A sandbox over that commit for the length of `use`; closed whatever happens. */
export async function inSandbox<T>(
  ports: WorkspacePorts,
  work: Work,
  tools: AttemptTools,
  source: { readonly mirrorDir: string; readonly commit: string },
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const { task, subtask, claim } = work;
  const wanted = kindRequestOf(task, source, 'agent', subtask.memoryMib);
  // The setup of many attempts may be done by this one, or waited for: it has limits of its own.
  const limitMs = setupMs(wanted.config);
  const began = performance.now();
  tools.extend(limitMs);
  const kind = await waiting(tools, ports.kinds.of(wanted, tools.signal));
  // What it left of them is not the agent's.
  tools.extend(Math.min(0, performance.now() - began - limitMs));
  const { wallMs } = subtask.matrix.limits;
  const request = { ...kind, taskId: task.id, attemptId: claim.attemptId, wallMs };
  const sandbox = await waiting(tools, ports.sandboxes.acquire(request, tools.signal));
  try {
    await tools.started(sandbox.containerId);
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Starting and ending a sandbox for it, ms. */
const aroundSetupMs = 60_000;

/** What the setup of a repository may take, ms. */
export function setupMs({ setup }: KindRequest['config']): number {
  const { commands, seconds } = setup;
  return commands.length === 0 ? 0 : commands.length * seconds * 1000 + aroundSetupMs;
}

/** Waiting for a turn among many that start is no idleness of the agent; the wall-clock limit goes on. */
async function waiting<T>({ alive }: AttemptTools, work: Promise<T>): Promise<T> {
  const beat = setInterval(alive, 1000);
  try {
    return await work;
  } finally {
    clearInterval(beat);
  }
}

/** The repository file of the task; tasks without one never get as far as an attempt. */
export function configOf(task: Task): NonNullable<Task['config']> {
  if (task.config === null) throw new PatchfleetError('internal', 'the task has no repository configuration');
  return task.config;
}
