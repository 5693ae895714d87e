import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from './random.ts';

/**
 * What stands between GitHub and the replicas: it takes each webhook at once and posts it, as it is, one to three
 * times, each copy to a replica of its own and after a pause of its own, so that they arrive in any order. A copy
 * that nobody answered with 2xx is posted again, as people redeliver what GitHub shows as failed.
 */
export interface Relay {
  /** For the double's `setWebhookUrl`. */
  readonly url: string;
  readonly counts: { webhooks: number; copies: number; accepted: number; tries: number };
  /** Answers other than 2xx and 503, which no redelivery mends. */
  readonly refused: readonly string[];
  /** Copies that are not accepted yet. */
  pending(): number;
  close(): Promise<void>;
}

/** Pauses before the first copy, before the others, and after a try that failed; milliseconds, least and most. */
export interface RelayPauses {
  readonly firstMs: readonly [number, number];
  readonly furtherMs: readonly [number, number];
  readonly againMs: readonly [number, number];
}

const stormPauses: RelayPauses = { firstMs: [0, 2500], furtherMs: [0, 15_000], againMs: [200, 1500] };
const mostCopies = 3;
/** GitHub waits ten seconds for an answer. */
const answerMs = 10_000;
/** Headers that belong to the connection, not to the webhook. */
const hopHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);

interface Webhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export async function startRelay(options: {
  /** Addresses of the replicas that listen now. */
  readonly targets: () => readonly string[];
  readonly random: Random;
  readonly pauses?: RelayPauses;
}): Promise<Relay> {
  const { targets, random } = options;
  const { firstMs, furtherMs, againMs } = options.pauses ?? stormPauses;
  const counts = { webhooks: 0, copies: 0, accepted: 0, tries: 0 };
  const refused: string[] = [];
  const closing = new AbortController();
  const { signal } = closing;
  const copies = new Set<Promise<void>>();

  async function post(webhook: Webhook): Promise<number | null> {
    const urls = targets();
    if (urls.length === 0) return null;
    counts.tries += 1;
    const headers = Object.entries(webhook.headers).flatMap(([name, value]) =>
      hopHeaders.has(name) || typeof value !== 'string' ? [] : [[name, value] as [string, string]],
    );
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    const request = { method: 'POST', headers, body: new Uint8Array(webhook.body), signal: limit };
    return fetch(new URL(webhook.path, random.pick(urls)), request).then(
      async (response) => {
        await response.arrayBuffer().catch(() => {});
        return response.status;
      },
      () => null,
    );
  }

  async function deliver(webhook: Webhook, pauseMs: number): Promise<void> {
    await delay(pauseMs, undefined, { signal });
    for (;;) {
      const status = await post(webhook);
      if (status !== null && status >= 200 && status < 300) {
        counts.accepted += 1;
        return;
      }
      if (status !== null && status !== 503) {
        refused.push(`${String(webhook.headers['x-github-event'])}: ${status}`);
        return;
      }
      await delay(random.between(...againMs), undefined, { signal });
    }
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const webhook = { path: request.url ?? '/', headers: request.headers, body: Buffer.concat(chunks) };
    counts.webhooks += 1;
    const times = random.between(1, mostCopies);
    for (let copy = 0; copy < times; copy += 1) {
      counts.copies += 1;
      const pauseMs = copy === 0 ? random.between(...firstMs) : random.between(...furtherMs);
      const delivered = deliver(webhook, pauseMs)
        .catch((error: unknown) => {
          if (!signal.aborted) refused.push(String(error));
        })
        .finally(() => copies.delete(delivered));
      copies.add(delivered);
    }
    response.writeHead(202).end();
  }

  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    refused,
    pending: () => copies.size,
    async close() {
      closing.abort();
      await Promise.all(copies);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
