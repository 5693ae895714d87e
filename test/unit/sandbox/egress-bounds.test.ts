import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { EgressRecord } from '../../../src/sandbox/egress/egress.ts';
import { echo, kept, listener, proxyTo, rule } from './egress-setting.ts';

describe('addresses', () => {
  const ask = (port: number) => `GET http://a.test:${port}/ HTTP/1.0\r\n\r\n`;

  it('are resolved once for each request, and connected to as they were judged', async () => {
    const server = await echo(() => ({ body: 'reached' }));
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['93.184.216.34', '127.0.0.1']];
    let asked = 0;
    const resolve = async () => answers[asked++] ?? [];
    const { say, records } = kept(await proxyTo([rule('a.test', server.port)], { resolve }));
    expect(await say(ask(server.port))).toMatch(/reached$/);
    expect(asked).toBe(1);
    expect(await say(ask(server.port))).toMatch(
      /^HTTP\/1\.1 403 a\.test leads to 169\.254\.169\.254, which is never reached/,
    );
    expect(asked).toBe(2);
    expect(records.map(({ action }) => action)).toEqual(['egress.allowed', 'egress.refused']);
  });

  it.each([
    ['a private one among public ones', ['93.184.216.34', '127.0.0.1']],
    ['loopback', ['::1']],
    ['a mapped one', ['::ffff:127.0.0.1']],
    ['none', []],
  ])('are refused without `private`: %s', async (_, addresses) => {
    const server = kept(await listener(() => {}));
    const resolve = async () => addresses;
    const { say } = kept(await proxyTo([rule('a.test', server.port, false)], { resolve }));
    expect(await say(ask(server.port))).toMatch(/^HTTP\/1\.1 403 a\.test (leads to|has no address)/);
    expect(server.connections()).toBe(0);
  });

  it('that cannot be found or reached are told apart from a refusal', async () => {
    // Nobody listens there: it is none of the ports that are given out.
    const nobody = 2;
    const { say, proxy } = kept(await proxyTo([rule('a.test', nobody)]));
    expect(await say(ask(nobody))).toMatch(/^HTTP\/1\.1 502 no connection to a\.test/);
    await proxy.close();
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    const lost = kept(await proxyTo([rule('a.test', nobody)], { resolve }));
    expect(await lost.say(ask(nobody))).toMatch(/^HTTP\/1\.1 502 a\.test cannot be resolved/);
  });
});

describe('a proxy', () => {
  it('names the attempt once the sandbox is handed over', async () => {
    const { say, records, proxy } = kept(await proxyTo([]));
    await say('CONNECT a.test:443 HTTP/1.0\r\n\r\n');
    proxy.handOver({ taskId: 't', attemptId: 'x' });
    await say('CONNECT a.test:443 HTTP/1.0\r\n\r\n');
    expect(records.map(({ actor, detail }) => [actor, detail['task']])).toEqual([
      ['sandbox:box', null],
      ['attempt:x', 't'],
    ]);
  });

  it('records so many refusals in rows of their own, and counts the others in the last', async () => {
    const { say, records, close } = kept(await proxyTo([]));
    for (let n = 0; n < 105; n += 1) await say('CONNECT a.test:443 HTTP/1.0\r\n\r\n');
    await close();
    expect(records.length).toBe(101);
    expect(records.at(-1)).toMatchObject({
      action: 'egress.closed',
      detail: { allowed: 0, refused: 105, withoutRow: 5, places: {} },
    });
  });

  it('records nothing of connections that say nothing, and takes so many at a time', async () => {
    const { port, records, close } = kept(await proxyTo([]));
    const sockets: Socket[] = [];
    for (let n = 0; n < 64; n += 1) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      sockets.push(socket);
    }
    const beyond = connect(port, '127.0.0.1').resume();
    beyond.on('error', () => {});
    await once(beyond, 'close');
    expect(sockets.filter((socket) => socket.destroyed).length).toBe(0);
    const ended = sockets.map((socket) => once(socket.resume(), 'close'));
    await close();
    await Promise.all(ended);
    expect(records).toEqual([]);
  });

  it('keeps nothing of connections that are over, though thousands come and go', async () => {
    const { proxy } = kept(await proxyTo([]));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    async function comeAndGo(count: number): Promise<number> {
      for (let n = 0; n < count; n += 1) {
        const [client, far] = duplexPair();
        proxy.accept(far);
        client.resume().end();
        await once(far, 'close');
      }
      // What was looked at by a weak reference stays until the next turn.
      for (let turn = 0; turn < 3; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        collect();
      }
      return process.memoryUsage().heapUsed;
    }
    const before = await comeAndGo(500);
    expect((await comeAndGo(8000)) - before).toBeLessThan(3 * 1024 * 1024);
  });

  it('ends a connection whose head does not come, or through which nothing goes', async () => {
    const silent = kept(await listener(() => {}));
    const limits = { headMs: 50, idleMs: 50 };
    const { say } = kept(await proxyTo([rule('a.test', silent.port)], { limits }));
    expect(await say('GET http://a')).toBe('');
    expect(await say(`GET http://a.test:${silent.port}/ HTTP/1.0\r\n\r\n`)).toBe('');
  });

  it('lets nothing through whose record is never kept, says so, and does not wait for it at its end', async () => {
    const server = kept(await listener(() => {}));
    const asked: string[] = [];
    const audit = ({ action }: EgressRecord) => {
      asked.push(action);
      return new Promise<never>(() => {});
    };
    const { say, close } = await proxyTo([rule('a.test', server.port)], { audit, limits: { recordMs: 50 } });
    expect(await say(`GET http://a.test:${server.port}/ HTTP/1.0\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 503 the request cannot be recorded, so it is not let through\r\n/,
    );
    expect(await say('CONNECT b.test:443 HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 b\.test:443 may not/);
    await close();
    expect({ asked, connections: server.connections() }).toEqual({
      asked: ['egress.allowed', 'egress.refused', 'egress.refused', 'egress.closed'],
      connections: 0,
    });
  });

  it('lets nothing through once it is closed', async () => {
    const server = kept(await listener(() => {}));
    const { say, close, proxy, port } = await proxyTo([rule('a.test', server.port)]);
    const pending = say(`GET http://a.test:${server.port}/ HTTP/1.0\r\n\r\n`);
    await expect.poll(() => server.connections()).toBe(1);
    await proxy.close();
    expect(await pending).toBe('');
    expect(await say(`GET http://a.test:${server.port}/ HTTP/1.0\r\n\r\n`)).toBe('');
    expect(server.connections()).toBe(1);
    await close();
    expect(port).toBeGreaterThan(0);
  });
});
