import { setTimeout as delay } from 'node:timers/promises';
import { connectEngine, type EngineTls } from './docker-host.ts';

/** Of an engine that lives, far less than its answers take under load; milliseconds. */
const limitMs = 5000;
/** An answer is good for so long: many attempts begin at once. */
const freshMs = 500;

/**
 * Whether the engine that `dockerHost` names (as `connectEngine` takes both) answers at all. Never rejects; tells of
 * each change in the log, once.
 */
export function createEngineWatch(
  dockerHost: string | undefined,
  log: { warn(message: string): void; info(message: string): void },
  dockerTls?: EngineTls,
): () => Promise<boolean> {
  const { requests } = connectEngine(dockerHost, dockerTls);
  let answered = true;
  let at = Number.NEGATIVE_INFINITY;
  return async () => {
    if (answered && performance.now() - at < freshMs) return true;
    const timer = new AbortController();
    const late = delay(limitMs, false, { signal: timer.signal }).catch(() => false);
    const ping = requests.ping().then(
      () => true,
      () => false,
    );
    const now = await Promise.race([ping, late]);
    timer.abort();
    if (now !== answered) {
      if (now) log.info('the Docker engine answers again');
      else log.warn('the Docker engine does not answer: no attempt is taken until it does');
    }
    answered = now;
    at = performance.now();
    return now;
  };
}
