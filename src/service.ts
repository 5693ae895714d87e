import { startServer } from './api/server.ts';
import type { Composition } from './compose.ts';
import type { OperatorConfig } from './config/operator-config.ts';
import { everyInterval } from './scheduling/reconciler.ts';

/** The roles of a process: `serve` (webhooks, admission, advancing, publishing) and `work` (planning, agents). */
export interface Roles {
  readonly serve: boolean;
  readonly work: boolean;
}

export interface Service {
  /** Where it listens; null for a process that only works. */
  readonly url: string | null;
  /** Stops taking work, gives running attempts back, closes everything. */
  stop(): Promise<void>;
}

/** Admissions and publications are short and wait for GitHub: several at once. */
const lightJobs = 8;
const plansAtOnce = 2;
/** How often a worker asks for its claims, milliseconds: a cancel is done within seconds. */
const lookMs = 1000;
/** How often room is made beside the times that something was made, milliseconds: what was in use then may go by now. */
const roomMs = 300_000;

export async function startService(
  parts: Composition,
  roles: Roles,
  config: OperatorConfig,
  address: { host: string; port: number },
): Promise<Service> {
  const { queue, log } = parts;
  const { timing } = config;
  const stops: (() => Promise<unknown>)[] = [];
  let url: string | null = null;
  // Workers have been seen idle after reconnects: a process that cannot reconcile any more should be replaced.
  let progressAt = Date.now();
  const silenceMs = Math.max(60_000, 10 * timing.reconcile_ms);

  if (roles.work) {
    const { dispatch } = parts;
    stops.push(() => dispatch.stop());
    // Its sign of life comes before its first sandbox, which the reaper of another worker would take for a dead one's.
    await dispatch.look();
    await queue.work('plan', plansAtOnce, parts.plan);
    await queue.work('run', 1, (_, signal) => dispatch.wake(signal));
    const looks = everyInterval('looking around', lookMs, dispatch.look, log);
    stops.push(() => looks.stop());
    const reaper = everyInterval('reaping sandboxes', timing.lease_ms, parts.reapSandboxes, log);
    stops.push(() => reaper.stop());
    const room = everyInterval('making room', roomMs, parts.makeRoom, log);
    stops.push(() => room.stop());
  }
  if (roles.serve) {
    await queue.work('admit', lightJobs, parts.admit);
    await queue.work('advance', lightJobs, parts.advance);
    await queue.work('publish', lightJobs, parts.publish);
    const server = await startServer({
      receive: parts.receive,
      isAlive: () => Date.now() - progressAt < silenceMs,
      whenReady: parts.store.ping,
      ...address,
      onError: (error) => log.error({ err: error }, 'request failed'),
    });
    url = server.url;
    stops.push(async () => {
      await server.close();
      await parts.lightLane.stop();
    });
  }
  const reconcile = async () => {
    await parts.reconcile();
    progressAt = Date.now();
  };
  const reconciler = everyInterval('reconciling', timing.reconcile_ms, reconcile, log);
  stops.push(() => reconciler.stop());

  return {
    url,
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await parts.close();
    },
  };
}
