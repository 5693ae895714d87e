import type { Agent, AgentReport } from '../agents/port.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits, Timing } from '../config/operator-config.ts';
import { selectAgents } from '../config/select-agents.ts';
import { type Failure, PatchfleetError, toFailure } from '../domain/failure.ts';
import type { Mirrors } from '../github/port.ts';
import type { Sandboxes, Snapshots } from '../sandbox/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { ArtifactStore, Store, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { ClaimLost, keepClaim } from './heartbeat.ts';
import { type Watch, watchLimits } from './watch.ts';

/** What an attempt needs of the world. */
export interface RunDependencies {
  readonly store: Pick<Store, 'attempts'>;
  readonly artifacts: ArtifactStore;
  readonly queue: Queue;
  readonly mirrors: Mirrors;
  readonly snapshots: Snapshots;
  readonly sandboxes: Sandboxes;
  readonly agents: readonly AgentConfig[];
  readonly createAgent: (config: AgentConfig, task: Task) => Agent;
  readonly limits: Limits;
  readonly timing: Timing;
  /** Name of this worker, unique per process. */
  readonly worker: string;
  readonly log: Logger;
}

type Work = NonNullable<Awaited<ReturnType<Store['attempts']['claim']>>>;

/**
 * The life of an attempt: claim -> mirror -> snapshot -> sandbox -> agent -> result. Everything it stores
 * carries the claim's epoch; a worker that lost its claim stops, and what it still says is refused.
 */
export function createAttemptRunner(
  deps: RunDependencies,
): (attemptId: string, shutdown: AbortSignal) => Promise<void> {
  const { store, queue, timing } = deps;
  return async (attemptId, shutdown) => {
    const claimed = await store.attempts.claim(attemptId, deps.worker, timing.lease_ms);
    if (claimed === null) return;
    const { claim, task, subtask } = claimed;
    const log = deps.log.child({ task: task.id, attempt: attemptId, row: subtask.row });
    const heartbeat = keepClaim(store.attempts, claim, timing, log);
    const watch = watchLimits(subtask.matrix.limits, AbortSignal.any([heartbeat.signal, shutdown]));
    const transcript: string[] = [];
    const keepLog = async () => [
      await deps.artifacts.put('agent.log', transcript.join('\n'), 'application/x-ndjson'),
    ];
    try {
      const report = await runAgent(deps, claimed, watch, (line) => transcript.push(line));
      const accepted = await store.attempts.succeed(claim, { ...report, artifacts: await keepLog() });
      log.info({ accepted, findings: report.findings.length, refused: report.refused }, 'attempt succeeded');
    } catch (error) {
      if (heartbeat.signal.aborted || error instanceof ClaimLost) {
        log.info('attempt stopped: its claim is gone');
      } else if (shutdown.aborted) {
        await store.attempts.release(claim);
        log.info('attempt given back: the worker shuts down');
        return;
      } else {
        const failure = failureOf(error, watch.signal);
        log.warn({ err: error, code: failure.code }, 'attempt failed');
        await store.attempts.fail(claim, failure, await keepLog());
      }
    } finally {
      watch.stop();
      heartbeat.stop();
    }
    await queue.enqueue('advance', task.id, { priority: task.priority });
  };
}

/** The limit that ended the attempt says more than the error it caused on its way out. */
function failureOf(error: unknown, signal: AbortSignal): Failure {
  return toFailure(signal.reason instanceof PatchfleetError ? signal.reason : error);
}

/** From the claim to the agent's report. The sandbox is closed whatever happens. */
async function runAgent(
  deps: RunDependencies,
  { claim, task, subtask }: Work,
  watch: Watch,
  onLog: (line: string) => void,
): Promise<AgentReport> {
  const { signal, alive } = watch;
  const config = agentOf(deps, task, subtask.agent);
  const repository = {
    installationId: task.installationId,
    id: task.repositoryId,
    owner: task.owner,
    name: task.repo,
  };
  const mergeBase = task.mergeBase ?? task.baseSha;
  const mirror = await deps.mirrors.open(repository);
  await mirror.fetchPullRequest(task.number, task.headSha, task.baseSha, signal);
  const snapshot = await deps.snapshots.ensure(
    { id: task.repositoryId, mirrorDir: mirror.dir },
    task.headSha,
    signal,
  );
  const maxBytes = deps.limits.diff_mib * 1024 * 1024;
  const { changes } = await mirror.changes(mergeBase, task.headSha, {
    maxBytes,
    paths: subtask.matrix.inputs,
    signal,
  });
  alive();
  const request = { taskId: task.id, attemptId: claim.attemptId, snapshot };
  const sandbox = await deps.sandboxes.acquire({ ...request, wallMs: subtask.matrix.limits.wallMs }, signal);
  try {
    if (!(await deps.store.attempts.started(claim, sandbox.containerId)))
      throw new ClaimLost('before the agent began');
    alive();
    return await deps.createAgent(config, task).review({
      taskId: task.id,
      subtaskId: subtask.id,
      attemptId: claim.attemptId,
      row: subtask.matrix,
      contract: task.contract,
      changes: subtask.matrix.inputs.flatMap((path) => changes.filter((change) => change.path === path)),
      sandbox,
      signal,
      onProgress: alive,
      onLog: (line) => {
        alive();
        onLog(line);
      },
    });
  } finally {
    await sandbox.close();
  }
}

function agentOf(deps: RunDependencies, task: Task, name: string): AgentConfig {
  const all = task.config === null ? deps.agents : selectAgents(deps.agents, task.config);
  const config = all.find((agent) => agent.name === name);
  if (config === undefined)
    throw new PatchfleetError('config_invalid', `the agent \`${name}\` is no longer configured`);
  return config;
}
