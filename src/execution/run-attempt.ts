import type { Timing } from '../config/operator-config.ts';
import { type Failure, failureKinds, PatchfleetError, toFailure } from '../domain/failure.ts';
import type { Queue } from '../scheduling/port.ts';
import type { ArtifactStore } from '../store/port/artifacts.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { ClaimLost, keepClaim } from './heartbeat.ts';
import type { Perform, Work } from './perform.ts';
import { watchLimits } from './watch.ts';

/** What an attempt needs of the world, whatever its work is. */
export interface RunDependencies {
  readonly store: Pick<Store, 'attempts'>;
  readonly artifacts: ArtifactStore;
  readonly queue: Queue;
  readonly perform: Perform;
  /** Whether attempts can run here now. What fails while they cannot is given back: it costs the row no retry. */
  readonly canRun: () => Promise<boolean>;
  readonly timing: Timing;
  readonly log: Logger;
}

/**
 * The life of a claimed attempt: work -> result. Everything it stores carries the claim's epoch; a worker that
 * lost its claim stops, and what it still says is refused. `gone` aborts with a {@link ClaimLost}.
 */
export function createAttemptRunner(
  deps: RunDependencies,
): (work: Work, signals: { readonly gone: AbortSignal; readonly shutdown: AbortSignal }) => Promise<void> {
  const { store, queue, timing } = deps;
  const giveBack = async ({ claim, task }: Work) => {
    await store.attempts.release(claim);
    await queue.enqueueRun(claim.attemptId, task.repositoryId, { priority: task.priority });
  };
  return async (work, { gone, shutdown }) => {
    const { claim, task, subtask } = work;
    const log = deps.log.child({ task: task.id, attempt: claim.attemptId, row: subtask.row });
    const heartbeat = keepClaim(store.attempts, claim, timing, log);
    const lost = AbortSignal.any([heartbeat.signal, gone]);
    const watch = watchLimits(subtask.matrix.limits, AbortSignal.any([lost, shutdown]));
    const transcript: string[] = [];
    const keepLog = async () => [
      await deps.artifacts.put('agent.log', transcript.join('\n'), 'application/x-ndjson'),
    ];
    try {
      const { artifacts = [], ...result } = await deps.perform(work, {
        signal: watch.signal,
        alive: watch.alive,
        extend: watch.extend,
        log: (line) => {
          watch.alive();
          transcript.push(line);
        },
        started: async (containerId) => {
          if (!(await store.attempts.started(claim, containerId)))
            throw new ClaimLost('before the agent began');
          watch.alive();
        },
      });
      const kept = [...artifacts, ...(await keepLog())];
      const accepted = await store.attempts.succeed(claim, { ...result, artifacts: kept });
      log.info({ accepted, findings: result.findings?.length ?? 0 }, 'attempt succeeded');
    } catch (error) {
      if (lost.aborted || error instanceof ClaimLost) {
        log.info('attempt stopped: its claim is gone');
      } else if (shutdown.aborted) {
        log.info('attempt given back: the worker shuts down');
        await giveBack(work);
        return;
      } else {
        const failure = failureOf(error, watch.signal);
        if (failureKinds[failure.code].class === 'transient' && !(await deps.canRun())) {
          log.warn({ err: error, code: failure.code }, 'attempt given back: it cannot run here now');
          await giveBack(work);
          return;
        }
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
