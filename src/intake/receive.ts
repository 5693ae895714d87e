import { isUtf8 } from 'node:buffer';
import { jsonObject } from '../domain/json-object.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { LightLane } from './light-lane.ts';
import type { WebhookAnswer, WebhookRequest } from './port.ts';

export interface ReceiverPorts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly queue: Pick<Queue, 'enqueue'>;
  /** Sees to what people wait for, beside the queue. */
  readonly lightLane?: Pick<LightLane, 'offer'>;
  readonly verify: (body: string, signature: string) => Promise<boolean>;
  readonly log: Logger;
  /** How long storing may take, milliseconds. GitHub waits 10 s for the answer. */
  readonly storeTimeoutMs?: number;
}

/**
 * Takes one webhook in: checks the signature, stores the delivery, and only then answers 202. What could not
 * be stored is answered 503 and nothing of it is claimed. Work starts afterwards, from the stored row.
 */
export function createReceiver(ports: ReceiverPorts): (request: WebhookRequest) => Promise<WebhookAnswer> {
  const { store, queue, verify, log, storeTimeoutMs = 8000 } = ports;

  return async ({ headers, body }) => {
    const signature = one(headers['x-hub-signature-256']);
    const text = body.toString('utf8');
    // Decoding is lossless for UTF-8 alone, and only then is the text what was signed.
    if (signature === '' || text === '' || !isUtf8(body) || !(await verify(text, signature))) {
      return { status: 401, message: 'the signature is missing or wrong: compare the webhook secrets' };
    }
    const id = one(headers['x-github-delivery']);
    const event = one(headers['x-github-event']);
    if (!/^[\w-]{1,100}$/.test(id) || !/^[a-z0-9_]{1,100}$/.test(event)) {
      return { status: 400, message: 'X-GitHub-Delivery or X-GitHub-Event is missing or malformed' };
    }
    const payload = jsonObject(text);
    if (payload === null) {
      return {
        status: 400,
        message: 'the body is not a JSON object: set the content type to application/json',
      };
    }
    const action = actionOf(payload);
    try {
      const delivery = { id, event, action, body: text };
      if ((await within(storeTimeoutMs, store.deliveries.store(delivery))) === 'duplicate')
        return { status: 202, message: 'known already' };
    } catch (error) {
      log.error({ err: error, delivery: id }, 'a delivery could not be stored');
      return { status: 503, message: 'the delivery could not be stored: deliver it again' };
    }
    if (ports.lightLane?.offer({ id, event, action, payload }) === true) return stored;
    // A lost job is found in the rows by the reconciler.
    queue.enqueue('admit', id, { priority: priorityOf(event) }).catch((error: unknown) => {
      log.warn({ err: error, delivery: id }, 'admission will wait for the reconciler');
    });
    return stored;
  };
}

const stored: WebhookAnswer = { status: 202, message: 'stored' };

/** Lower runs first: commands are what people wait for. Every push and every check of a repository is told, and few of them ask for anything. */
function priorityOf(event: string): number {
  if (event === 'issue_comment' || event === 'issues') return 10;
  return event === 'push' || event.startsWith('check_') ? 30 : 20;
}

function one(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function actionOf(payload: Record<string, unknown>): string | null {
  const { action } = payload;
  return typeof action === 'string' && /^[\w.]{1,100}$/.test(action) ? action : null;
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not stored within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
