import type { Attempts, Claim } from '../store/port/attempts.ts';
import type { Logger } from '../telemetry/log.ts';

/** The reason of an abort: the claim is lost or the attempt was cancelled; nothing of it counts any more. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/**
 * Gives a sign of life at every interval, and aborts `signal` once the claim is refused, or could not be
 * renewed for a whole lease (then somebody else may hold it).
 */
export function keepClaim(
  attempts: Pick<Attempts, 'heartbeat'>,
  claim: Claim,
  timing: { heartbeat_ms: number; lease_ms: number },
  log: Logger,
): { signal: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let stopped = false;
  let timer: NodeJS.Timeout;
  let unanswered = false;
  // By a clock of its own: a database that hangs answers no heartbeat, and refuses none either. A process that was
  // itself asleep has not asked yet: it does so first.
  const expire = () => {
    if (unanswered) lost.abort(new ClaimLost('no heartbeat could be stored for a whole lease'));
    else lease = setTimeout(expire, timing.heartbeat_ms);
  };
  let lease = setTimeout(expire, timing.lease_ms);
  const beat = async () => {
    const askedAt = Date.now();
    unanswered = true;
    try {
      if (await attempts.heartbeat(claim)) {
        unanswered = false;
        clearTimeout(lease);
        // Counted from before the question: the row's time lies between that and the answer.
        if (!stopped) lease = setTimeout(expire, askedAt + timing.lease_ms - Date.now());
      } else if (!stopped) lost.abort(new ClaimLost('the attempt was lost or cancelled'));
    } catch (error) {
      log.warn({ err: error, attempt: claim.attemptId }, 'heartbeat failed');
    }
    if (!stopped && !lost.signal.aborted) timer = setTimeout(() => void beat(), timing.heartbeat_ms);
  };
  timer = setTimeout(() => void beat(), timing.heartbeat_ms);
  return {
    signal: lost.signal,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(lease);
    },
  };
}
