import { createHmac, randomUUID } from 'node:crypto';
import type { Description } from './openapi.ts';
import type { Json } from './router.ts';
import type { App } from './state.ts';

export interface Delivery {
  /** The `X-GitHub-Delivery` id; a redelivery keeps it. */
  readonly id: string;
  readonly event: string;
  readonly action: string | null;
  /** Null where nothing answered. */
  readonly status: number | null;
  /** Milliseconds until the answer. */
  readonly durationMs: number;
}

export interface DeliverOptions {
  readonly id?: string;
  /** Signs with another secret, to show that it is refused. */
  readonly secret?: string;
  /** Default: the configured webhook URL. */
  readonly url?: string;
}

export interface Webhooks {
  url: string | null;
  readonly deliveries: readonly Delivery[];
  /** Signs and posts any payload, as it is. */
  deliver(event: string, payload: unknown, options?: DeliverOptions): Promise<Delivery>;
  /** Posts the payload of an earlier delivery again under its own id. */
  redeliver(id: string): Promise<Delivery>;
  /** Checks a payload of ours against GitHub's description, then delivers it; null without a webhook URL. */
  send(event: string, payload: Json, options?: DeliverOptions): Promise<Delivery | null>;
}

/** GitHub waits ten seconds for an answer. */
const answerTimeout = 10_000;

export function createWebhooks(
  app: App,
  description: Description,
  violations: string[],
  url: string | null,
): Webhooks {
  const deliveries: Delivery[] = [];
  const sent = new Map<string, { event: string; body: string; action: string | null }>();

  const post = async (id: string, options: DeliverOptions): Promise<Delivery> => {
    const message = sent.get(id);
    const target = options.url ?? webhooks.url;
    if (!message) throw new Error(`no delivery ${id}`);
    if (target === null) throw new Error('the double has no webhook URL');
    const hmac = (algorithm: string) =>
      createHmac(algorithm, options.secret ?? app.webhookSecret)
        .update(message.body)
        .digest('hex');
    const began = performance.now();
    const status = await fetch(target, {
      method: 'POST',
      body: message.body,
      headers: {
        accept: '*/*',
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/044aadd',
        'x-github-event': message.event,
        'x-github-delivery': id,
        'x-github-hook-id': String(app.id + 1),
        'x-github-hook-installation-target-id': String(app.id),
        'x-github-hook-installation-target-type': 'integration',
        'x-hub-signature': `sha1=${hmac('sha1')}`,
        'x-hub-signature-256': `sha256=${hmac('sha256')}`,
      },
      signal: AbortSignal.timeout(answerTimeout),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => null,
    );
    const delivery = {
      id,
      event: message.event,
      action: message.action,
      status,
      durationMs: performance.now() - began,
    };
    deliveries.push(delivery);
    return delivery;
  };

  const webhooks: Webhooks = {
    url,
    deliveries,
    deliver(event, payload, options = {}) {
      const id = options.id ?? randomUUID();
      const action = (payload as Json | null)?.['action'];
      const body = JSON.stringify(payload);
      sent.set(id, { event, body, action: typeof action === 'string' ? action : null });
      return post(id, options);
    },
    redeliver: (id) => post(id, {}),
    async send(event, payload, options = {}) {
      // `push` has no action.
      const name = typeof payload['action'] === 'string' ? `${event}.${payload['action']}` : event;
      const problem = description.checkWebhook(name, payload);
      if (problem) violations.push(`webhook ${name}: ${problem}`);
      if (webhooks.url === null && options.url === undefined) return null;
      return webhooks.deliver(event, payload, options);
    },
  };
  return webhooks;
}
