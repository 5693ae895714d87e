import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { echo, kept, listener, proxyTo, rule } from '../egress-setting.ts';

describe('a plain request', () => {
  it('is written anew for the host it names, without what concerns the connection, and recorded', async () => {
    const server = await echo(() => ({
      body: 'the answer',
      headers: { 'Keep-Alive': 'timeout=9', 'X-Own': '1' },
    }));
    const { say, records, close } = kept(await proxyTo([rule('registry.test', server.port)]));
    const head = [
      `POST http://Registry.Test.:${server.port}/pkg?token=secret HTTP/1.1`,
      `Host: registry.test:${server.port}`,
      'Proxy-Authorization: Basic c2VjcmV0',
      'Connection: keep-alive, X-Hop',
      'X-Hop: gone',
      'Authorization: Bearer kept',
      'Content-Length: 5',
    ];
    const answer = await say(`${head.join('\r\n')}\r\n\r\nhello-and-more`);
    await close();
    expect(answer.replace(/Date: .*\r\n/, '')).toBe(
      'HTTP/1.1 200 OK\r\nX-Own: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n' +
        'a\r\nthe answer\r\n0\r\n\r\n',
    );
    expect(server.heads).toEqual([
      {
        method: 'POST',
        url: '/pkg?token=secret',
        headers: [
          ...['Host', `registry.test:${server.port}`, 'Authorization', 'Bearer kept'],
          ...['Content-Length', '5', 'Connection', 'close'],
        ],
      },
    ]);
    const place = `registry.test:${server.port}`;
    expect(records).toEqual([
      {
        actor: 'sandbox:box',
        action: 'egress.allowed',
        subject: place,
        detail: {
          ...{ sandbox: 'box', task: null, host: 'registry.test', port: server.port },
          ...{ method: 'POST', address: '127.0.0.1' },
        },
      },
      {
        actor: 'sandbox:box',
        action: 'egress.closed',
        subject: 'box',
        detail: {
          ...{ sandbox: 'box', task: null, allowed: 1, refused: 0, withoutRow: 0 },
          places: { [place]: { requests: 1, sent: 5, received: 10 } },
        },
      },
    ]);
  });

  it('leaves what follows it unread, so that no second request is smuggled in', async () => {
    const server = await echo();
    const { say } = kept(await proxyTo([rule('a.test', server.port)]));
    const one = `GET http://a.test:${server.port}/one HTTP/1.1\r\nHost: a.test:${server.port}\r\n\r\n`;
    await say(one + one.replace('/one', '/two'));
    expect(server.heads.map(({ url }) => url)).toEqual(['/one']);
  });

  it('gives an answer that is cut short as one that is cut short', async () => {
    const cut = kept(
      await listener((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
        setImmediate(() => socket.destroy());
      }),
    );
    const { port } = kept(await proxyTo([rule('a.test', cut.port)]));
    const url = `http://a.test:${cut.port}/`;
    const broken = new Promise<string>((resolve) => {
      httpRequest({ port, path: url, headers: { Host: `a.test:${cut.port}` } }, (response) => {
        response.resume().on('error', (error) => resolve(error.message));
        response.on('end', () => resolve('complete'));
      })
        .on('error', (error) => resolve(error.message))
        .end();
    });
    expect(await broken).not.toBe('complete');
  });

  it('waits for a word before a body where its client does', async () => {
    const server = await echo((body) => ({ body: `got ${body}`, headers: { 'Content-Length': '6' } }));
    const { say } = kept(await proxyTo([rule('a.test', server.port)]));
    const head = `PUT http://a.test:${server.port}/ HTTP/1.1\r\nHost: a.test:${server.port}\r\n`;
    const answer = await say(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`, 'ok');
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*got ok$/s);
  });

  it('does not follow a redirect: the next request is judged anew', async () => {
    const server = await echo(() => ({
      ...{ status: 302, headers: { Location: 'http://169.254.169.254/latest' }, body: '' },
    }));
    const { say } = kept(await proxyTo([rule('a.test', server.port)]));
    const first = await say(`GET http://a.test:${server.port}/ HTTP/1.0\r\n\r\n`);
    expect(first).toContain('Location: http://169.254.169.254/latest');
    const second = await say('GET http://169.254.169.254/latest HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n');
    expect(second).toMatch(/^HTTP\/1\.1 403 169\.254\.169\.254 is an address; only names are reached\r\n/);
    expect(server.heads.length).toBe(1);
  });
});

describe('what is refused', () => {
  it('is answered with the place to name, and recorded without its path', async () => {
    const { say, records } = kept(await proxyTo([rule('a.test', 443)]));
    const answer = await say('GET http://b.test/secret-path HTTP/1.1\r\nHost: b.test\r\n\r\n');
    const reason =
      'b.test:80 may not be reached from this sandbox. If it should be, name it in `setup.network.allow` of ' +
      '.github/patchfleet.yml, and let the operator add it to `sandbox.network.allow`';
    expect(answer).toBe(
      `HTTP/1.1 403 ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
        `Content-Length: ${reason.length + 13}\r\nConnection: close\r\n\r\npatchfleet: ${reason}\n`,
    );
    expect(records).toEqual([
      {
        actor: 'sandbox:box',
        action: 'egress.refused',
        subject: 'b.test:80',
        detail: { sandbox: 'box', task: null, host: 'b.test', port: 80, reason },
      },
    ]);
  });

  it.each<[string, string, number]>([
    ['another port of the host', 'CONNECT a.test:22 HTTP/1.1\r\nHost: a.test:22\r\n\r\n', 403],
    ['a host below the one allowed', 'CONNECT x.a.test:443 HTTP/1.1\r\nHost: x.a.test:443\r\n\r\n', 403],
    ['a host behind a user name', 'CONNECT a.test:443@b.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n', 400],
    ['a Host that differs', 'CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n', 403],
    ['two Hosts', 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nHost: b.test:443\r\n\r\n', 400],
    ['https to be forwarded', 'GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n', 400],
    ['a path without a host', 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n', 400],
    ['bare line feeds', 'GET http://a.test:443/ HTTP/1.1\nHost: a.test:443\n\n', 400],
    ['a head that is too large', `GET http://a.test:443/ HTTP/1.1\r\nA: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ])('is %s', async (_, head, status) => {
    const server = kept(await listener(() => {}));
    const { say, records } = kept(await proxyTo([rule('a.test', 443), rule('a.test', server.port)]));
    expect(await say(head)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(records.map(({ action }) => action)).toEqual(['egress.refused']);
    expect(server.connections()).toBe(0);
  });

  it('is whatever cannot be recorded', async () => {
    const server = kept(await listener(() => {}));
    const audit = () => Promise.reject(new Error('no database'));
    const { say } = kept(await proxyTo([rule('a.test', server.port)], { audit }));
    const answer = await say(`GET http://a.test:${server.port}/ HTTP/1.0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 503 the request cannot be recorded/);
    expect(server.connections()).toBe(0);
  });
});
