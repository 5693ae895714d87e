import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookExamples } from '../../support/webhook-examples.ts';
import { type IntakeWorld, openIntakeWorld } from './intake-world.ts';

let world: IntakeWorld;
beforeAll(async () => {
  world = await openIntakeWorld();
});
afterAll(() => world.close());

const good = Buffer.from(JSON.stringify({ action: 'opened', text: 'grün 😀 \u2028' }));

function post(body: Buffer | string, headers: Record<string, string | undefined> = {}) {
  const signature = createHmac('sha256', world.github.app.webhookSecret).update(body).digest('hex');
  const all = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return fetch(world.hookUrl, { method: 'POST', body, headers: given });
}

async function stored(): Promise<number> {
  const { rows } = await world.database.pool.query('select count(*)::int as n from deliveries');
  return rows[0].n;
}

describe('the webhook endpoint', () => {
  it('stores the body as it came before it answers 202, and asks for admission', async () => {
    const id = randomUUID();
    const response = await post(good, { 'x-github-delivery': id });
    expect(response.status).toBe(202);
    const row = await world.store.deliveries.get(id);
    expect(row).toMatchObject({ id, event: 'push', action: 'opened', status: 'received', attempts: 0 });
    expect(Buffer.from(row?.body ?? '')).toEqual(good);
    expect(world.asked).toContain(`admit ${id}`);
  });

  it('stores a delivery once that comes five times at once, to two replicas', async () => {
    const id = randomUUID();
    const other = await world.serve();
    const before = await stored();
    const urls = [world.hookUrl, `${other.url}/api/github/webhooks`];
    const signature = createHmac('sha256', world.github.app.webhookSecret).update(good).digest('hex');
    const headers = {
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const answers = await Promise.all(
      [0, 1, 0, 1, 0].map((n) => fetch(urls[n] ?? '', { method: 'POST', body: good, headers })),
    );
    await other.close();
    expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202, 202, 202]);
    expect([await stored(), world.asked.filter((entry) => entry === `admit ${id}`)]).toEqual([
      before + 1,
      [`admit ${id}`],
    ]);
  });

  it.each([
    ['no signature', 401, good, { 'x-hub-signature-256': undefined }],
    ['a wrong signature', 401, good, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }],
    ['a signature that is none', 401, good, { 'x-hub-signature-256': 'sha1=abc' }],
    ['an empty body', 401, '', {}],
    ['bytes that are not UTF-8', 401, Buffer.from([0x7b, 0xff, 0x7d]), {}],
    ['no delivery id', 400, good, { 'x-github-delivery': undefined }],
    ['no event', 400, good, { 'x-github-event': undefined }],
    ['an event that is no name', 400, good, { 'x-github-event': 'a:b' }],
    ['no JSON', 400, '{"a":', {}],
    ['JSON that is no object', 400, '[]', {}],
    ['a form', 400, 'payload=%7B%7D', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['more than 25 MiB', 413, Buffer.alloc(25 * 1024 * 1024 + 1, 'x'), {}],
  ])('refuses %s with %i and stores nothing', async (_name, status, body, headers) => {
    const before = await stored();
    const response = await post(body as Buffer, headers as Record<string, string | undefined>);
    expect([response.status, await stored()]).toEqual([status, before]);
  });

  it('takes a body of just under 25 MiB', async () => {
    const body = JSON.stringify({ action: 'opened', text: 'x'.repeat(25 * 1024 * 1024 - 100) });
    expect((await post(body)).status).toBe(202);
  });

  it('answers health, and nothing else', async () => {
    const get = async (path: string) => (await fetch(`${world.server.url}${path}`)).status;
    expect([
      await get('/healthz'),
      await get('/readyz'),
      await get('/'),
      await get('/api/github/webhooks'),
    ]).toEqual([200, 200, 404, 404]);
  });
});

describe('every example payload of GitHub', () => {
  it('is answered 202 and admitted without an error; a task comes only where GitHub has what it is about', async () => {
    const ids: string[] = [];
    for (const { name, examples: payloads } of webhookExamples) {
      for (const payload of payloads) {
        const delivery = await world.github.deliver(name, payload);
        expect([name, delivery.status]).toEqual([name, 202]);
        ids.push(delivery.id);
      }
    }
    const outcomes: Record<string, number> = {};
    for (const id of ids) {
      const row = await world.admit(id);
      const key =
        row.status === 'ignored' ? 'ignored' : `${row.status} ${row.event} ${row.action} ${row.reason}`;
      outcomes[key] = (outcomes[key] ?? 0) + 1;
    }
    const { rows } = await world.database.pool.query('select count(*)::int as n from tasks');
    // The installation of the examples is not one of the double's: asking for its token is refused for good.
    expect(
      Object.keys(outcomes).filter((key) => !/^failed (pull_request|push) .*github_refused/.test(key)),
    ).toEqual(['ignored']);
    expect([rows[0].n, world.errors]).toEqual([0, []]);
    expect(ids.length).toBeGreaterThan(300);
  });
});

describe('without a database', () => {
  it('answers 503 and claims nothing', async () => {
    await world.database.pool.end();
    expect((await post(good)).status).toBe(503);
    const ready = await fetch(`${world.server.url}/readyz`);
    const alive = await fetch(`${world.server.url}/healthz`);
    expect([ready.status, alive.status]).toEqual([503, 200]);
  });
});
