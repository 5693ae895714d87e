import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Relay, startRelay } from '../../chaos/storm/deliveries.ts';
import { createRandom } from '../../chaos/storm/random.ts';
import { until } from '../../support/app/until.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A replica that answers with these statuses, one after the other, then 202; null cuts the connection. */
async function replica(...statuses: (number | null)[]) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const status = statuses.length > 0 ? (statuses.shift() ?? null) : 202;
    if (status === null) return void response.destroy();
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      if (status === 202) seen.push(`${request.url} ${request.headers['x-hub-signature-256']} ${text}`);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const pauses = { firstMs: [0, 200], furtherMs: [0, 400], againMs: [20, 50] } as const;

async function relayTo(targets: () => string[]): Promise<Relay> {
  const relay = await startRelay({ targets, random: createRandom(11), pauses });
  closing.push(relay.close);
  return relay;
}

async function post(relay: Relay, text: string): Promise<number> {
  const headers = { 'x-hub-signature-256': `sha256=${text}`, 'x-github-event': 'push' };
  return (await fetch(`${relay.url}/hook`, { method: 'POST', headers, body: text })).status;
}

const idle = (relay: Relay) => until('all copies are accepted', () => relay.pending() === 0);

describe('webhooks on their way', () => {
  it('arrive one to three times each, unchanged, in another order than they were sent', async () => {
    const { url, seen } = await replica();
    const relay = await relayTo(() => [url]);
    const sent = Array.from({ length: 30 }, (_, number) => `message ${number}`);
    // At once: their pauses alone say when each goes on.
    expect(await Promise.all(sent.map((text) => post(relay, text)))).toEqual(sent.map(() => 202));
    await idle(relay);
    const times = sent.map((text) => seen.filter((one) => one === `/hook sha256=${text} ${text}`).length);
    expect(new Set(times)).toEqual(new Set([1, 2, 3]));
    expect(seen).toHaveLength(times.reduce((sum, count) => sum + count, 0));
    const firsts = [...new Set(seen)].map((one) => one.replace(/^.* sha256=.* (message \d+)$/, '$1'));
    expect(firsts).not.toEqual(sent);
    expect(firsts.toSorted()).toEqual(sent.toSorted());
  });

  it('are sent again until a replica takes them', async () => {
    const { url, seen } = await replica(503, null, 503);
    const urls: string[] = [];
    const relay = await relayTo(() => urls);
    await post(relay, 'wait');
    urls.push(url);
    await idle(relay);
    expect(seen.length).toBe(relay.counts.copies);
    expect({ tries: relay.counts.tries, refused: relay.refused }).toEqual({
      tries: relay.counts.copies + 3,
      refused: [],
    });
  });

  it('are given up, and told of, where a replica does not want them', async () => {
    const { url } = await replica(401, 401, 401);
    const relay = await relayTo(() => [url]);
    await post(relay, 'bad');
    await idle(relay);
    expect(relay.refused).toEqual(Array.from({ length: relay.counts.copies }, () => 'push: 401'));
  });
});
