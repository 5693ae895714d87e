import { PatchfleetError, toFailure } from '../domain/failure.ts';
import type { Delivery } from '../store/port.ts';
import {
  type AdmissionPorts,
  type Admitting,
  admitted,
  ignoredFor,
  type Settlement,
} from './admission-ports.ts';
import { admitLabel } from './admit-label.ts';
import { cancelClosed } from './cancel-tasks.ts';
import { openReview } from './open-review.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { admitIssue } from './request-triage.ts';
import { runCommands } from './run-commands.ts';
import { startCampaigns } from './start-campaigns.ts';
import type { TriggerOf } from './trigger-decision.ts';
import { readTrigger } from './triggers.ts';
import { watchChecks } from './watch-checks.ts';

export interface Admission {
  /**
   * Turns a stored delivery into work, or says why not. Rejects where another try may help, so that the
   * queue tries again; after {@link triesPerDelivery} tries, and for what no try mends, the delivery is
   * `failed` with its reason. Safe to run twice at once for one delivery.
   */
  admit(deliveryId: string, signal: AbortSignal): Promise<void>;
}

/** Tries a delivery gets before it is given up; with {@link pauseAfter} that is over half an hour. */
export const triesPerDelivery = 8;
/** Tries it gets while GitHub refuses for the rate: that passes, and GitHub says when. */
const triesWhileLimited = 40;

/** How long a delivery rests after its n-th try (counted from 1) failed, milliseconds: 5 s, 15 s, 45 s, ... */
export function pauseAfter(tries: number): number {
  return Math.min(15 * 60_000, 5000 * 3 ** (tries - 1));
}

/** `now`: milliseconds since the epoch. */
export function createAdmission(ports: AdmissionPorts & { readonly now?: () => number }): Admission {
  const { store, log, now = Date.now } = ports;
  // The reconciler asks for every delivery that is not settled at each of its rounds, far too often for a
  // GitHub that is down. Each replica keeps its own pauses; losing them costs a try.
  const restsUntil = new Map<string, number>();
  return {
    async admit(deliveryId, signal) {
      if ((restsUntil.get(deliveryId) ?? 0) > now()) return;
      const delivery = await store.deliveries.get(deliveryId);
      if (delivery === null) {
        log.warn({ delivery: deliveryId }, 'asked to admit a delivery that is not stored');
        return;
      }
      if (delivery.status !== 'received') return;
      const tries = await store.deliveries.begin(deliveryId);
      try {
        signal.throwIfAborted();
        const { status, reason } = await settlementOf({ ...ports, delivery, signal });
        await store.deliveries.settle(deliveryId, status, reason);
        log.info({ delivery: deliveryId, event: delivery.event, status, reason }, 'delivery admitted');
      } catch (error) {
        if (signal.aborted) throw error;
        await settleFailure(delivery, tries, error);
      }
    },
  };

  async function settleFailure(delivery: Delivery, tries: number, error: unknown): Promise<void> {
    const failure = toFailure(error);
    const transient = !(error instanceof PatchfleetError) || error.class === 'transient';
    const retryAfterMs = retryAfterOf(error);
    if (transient && tries < (retryAfterMs === null ? triesPerDelivery : triesWhileLimited)) {
      for (const [id, until] of restsUntil) if (until <= now()) restsUntil.delete(id);
      restsUntil.set(delivery.id, now() + (retryAfterMs ?? pauseAfter(tries)));
      log.warn({ err: error, delivery: delivery.id, tries }, 'admission failed and is tried again');
      throw error;
    }
    const reason = `${failure.code}: ${failure.detail}`.replaceAll('\0', '\uFFFD').slice(0, 2000);
    log.error({ err: error, delivery: delivery.id, tries }, 'a delivery was given up');
    await store.audit.record({
      actor: 'patchfleet',
      action: 'delivery.failed',
      subject: delivery.id,
      detail: { event: delivery.event, action: delivery.action, tries, reason },
    });
    await store.deliveries.giveUp(delivery.id, failure);
  }
}

/** Milliseconds after which GitHub said to come back; null where it did not. */
function retryAfterOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return null;
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : null;
}

async function settlementOf(at: Admitting): Promise<Settlement> {
  const self = await at.github.self();
  const trigger = readTrigger(at.delivery.event, JSON.parse(at.delivery.body), self);
  switch (trigger.kind) {
    case 'ignored':
      return ignoredFor(trigger.reason);
    case 'pull_request':
      return await at.store.withLock(`admit ${trigger.repository.id} ${trigger.pull}`, () =>
        admitPullRequest(at, trigger),
      );
    case 'commands':
      return await runCommands(at, trigger);
    case 'label':
      return await admitLabel(at, trigger);
    case 'issue_opened':
      return await admitIssue(at, trigger);
    case 'closed':
      return await at.store.withLock(`admit ${trigger.repository.id} ${trigger.number}`, () =>
        cancelClosed(at, trigger),
      );
    case 'push':
      return await at.store.withLock(`campaigns ${trigger.repository.id}`, () => startCampaigns(at, trigger));
    case 'checks_failed':
      return await watchChecks(at, trigger);
  }
}

/** Under the lock of the pull request: of two admissions at once, the one that reads later also writes later. */
async function admitPullRequest(at: Admitting, trigger: TriggerOf<'pull_request'>): Promise<Settlement> {
  const pull = await at.github.readPullRequest(trigger.repository, trigger.pull);
  if (typeof pull === 'string') return ignoredFor(pull);
  if (!pull.open) return ignoredFor('the pull request is closed');
  const file = await readRepositoryFile(at.github, pull, at.operatorConfig);
  if (file.config?.review.enabled === false) return ignoredFor('review.enabled is false');
  if (pull.draft && file.config?.review.drafts !== true) return ignoredFor('the pull request is a draft');
  const { action: name, actor } = trigger;
  await openReview(
    at,
    pull,
    { kind: 'pull_request', name, actor, deliveryId: at.delivery.id, commentId: null },
    file,
  );
  return admitted;
}
