import { PatchfleetError } from '../domain/failure.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { Mirror, Mirrors } from '../github/port.ts';
import type { Sandbox, Sandboxes, Snapshots } from '../sandbox/port.ts';
import type { Task } from '../store/port.ts';
import type { AttemptTools, Work } from './perform.ts';

/** What brings code into a sandbox. */
export interface WorkspacePorts {
  readonly mirrors: Mirrors;
  readonly snapshots: Snapshots;
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

/** A sandbox over that commit for the length of `use`; closed whatever happens. */
export async function inSandbox<T>(
  ports: WorkspacePorts,
  work: Work,
  tools: AttemptTools,
  source: { readonly mirrorDir: string; readonly commit: string },
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const { task, subtask, claim } = work;
  const repository = { id: task.repositoryId, mirrorDir: source.mirrorDir };
  const snapshot = await ports.snapshots.ensure(repository, source.commit, tools.signal);
  tools.alive();
  const { wallMs } = subtask.matrix.limits;
  const request = { taskId: task.id, attemptId: claim.attemptId, snapshot, wallMs };
  const sandbox = await waiting(tools, ports.sandboxes.acquire(request, tools.signal));
  try {
    await tools.started(sandbox.containerId);
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
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
