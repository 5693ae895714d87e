import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EgressRecord } from '../../../src/sandbox/egress/egress.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';

const signal = never;
const large = 8 * 1024 * 1024;
const { key, cert } = selfSigned('registry.test');

/** A registry on the host's loopback, as a machine of its own may have: over HTTP and over TLS. */
const seen: string[] = [];
function serve(request: IncomingMessage, response: ServerResponse): void {
  seen.push(`${request.headers.host} ${request.method} ${request.url}`);
  if (request.url === '/large') response.end(Buffer.alloc(large, 'x'));
  else if (request.method === 'PUT') {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.end(`took ${bytes}`));
  } else response.end(`package ${request.url}`);
}
const servers: Server[] = [];
async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}
let plain: number;
let tls: number;
beforeAll(async () => {
  plain = await listen(createServer(serve));
  tls = await listen(createTlsServer({ key, cert }, serve));
});
afterAll(() => {
  for (const server of servers) server.close();
});

const rules = () => [
  { host: 'registry.test', port: plain, private: true },
  { host: 'registry.test', port: tls, private: true },
  { host: 'public.test', port: plain, private: false },
];
const resolve = async () => ['127.0.0.1'];

/** What the network package of node, with the variables of its environment, makes of a URL. */
const fetching = `
  const [url, ...more] = process.argv.slice(1);
  const body = more[0] === 'put' ? { method: 'PUT', body: Buffer.alloc(Number(more[1])) } : {};
  fetch(url, body)
    .then(async (response) => {
      const text = await response.text();
      console.log(response.status, text.length > 200 ? text.length : text);
    })
    .catch((error) => console.log('failed', String(error.cause?.message ?? error)));`;
const environment = { NODE_EXTRA_CA_CERTS: '/workspace/ca.pem' };
const run = (sandbox: Sandbox, ...argv: string[]) =>
  sandbox.run(argv, { signal, wallMs: 60_000, env: environment });
const get = async (sandbox: Sandbox, url: string, ...more: string[]) =>
  (await run(sandbox, 'node', '-e', fetching, url, ...more)).stdout.trim();

describe.each(['auto', 'stream'] as const)('by the transport %s', (transport) => {
  const records: EgressRecord[] = [];
  let setting: Setting;
  let sandbox: Sandbox;
  beforeAll(async () => {
    const audit = async (record: EgressRecord) => void records.push(record);
    setting = createSetting({}, { egress: { audit, resolve, transport } });
    sandbox = await setting.acquire({ 'ca.pem': cert }, 'attempt-1', { network: rules() });
  });
  afterAll(async () => await setting.end());

  it('reaches what is allowed, by CONNECT with a certificate that is checked, and plain', async () => {
    seen.length = 0;
    expect(await get(sandbox, `https://registry.test:${tls}/a`)).toBe('200 package /a');
    expect(await get(sandbox, `http://registry.test:${plain}/b`)).toBe('200 package /b');
    const script = `import urllib.request as u; print(u.urlopen('http://registry.test:${plain}/c').read().decode())`;
    expect((await run(sandbox, 'python3', '-c', script)).stdout).toBe('package /c\n');
    expect(seen.splice(0)).toEqual([
      `registry.test:${tls} GET /a`,
      `registry.test:${plain} GET /b`,
      `registry.test:${plain} GET /c`,
    ]);
    // What the engine starts has the variables as well.
    const byEngine = await sandbox.runByEngine(['node', '-e', fetching, `http://registry.test:${plain}/d`], {
      signal,
      wallMs: 60_000,
    });
    expect(byEngine.stdout.trim()).toBe('200 package /d');
  });

  it('carries large bodies in both directions, several at once, while tools are used', async () => {
    const answers = await Promise.all([
      get(sandbox, `https://registry.test:${tls}/large`),
      get(sandbox, `https://registry.test:${tls}/up`, 'put', String(large)),
      sandbox.read('ca.pem', { signal }).then(({ text }) => text),
    ]);
    expect(answers).toEqual([`200 ${large}`, `200 took ${large}`, cert]);
  });

  it('reaches nothing else, says what is missing, and records it', async () => {
    const before = records.length;
    const reason = (place: string) =>
      `${place} may not be reached from this sandbox. If it should be, name it in \`setup.network.allow\` of ` +
      '.github/patchfleet.yml, and let the operator add it to `sandbox.network.allow`';
    const script = `
import urllib.request as u
for url in ['https://other.test/x', 'http://other.test/secret', 'http://public.test:${plain}/']:
    try: u.urlopen(url)
    except Exception as error: print(error)`;
    expect((await run(sandbox, 'python3', '-c', script)).stdout.split('\n')).toEqual([
      `<urlopen error Tunnel connection failed: 403 ${reason('other.test:443')}>`,
      `HTTP Error 403: ${reason('other.test:80')}`,
      'HTTP Error 403: public.test leads to the private address 127.0.0.1. If that is meant, the operator says ' +
        '`private: true` in `sandbox.network.allow`',
      '',
    ]);
    const addresses = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).map(({ address }) => address),
    );
    const direct = `
      const net = require('node:net');
      const hosts = ${JSON.stringify([...addresses, 'registry.test', '169.254.169.254'])};
      Promise.all(hosts.map((host) => new Promise((resolve) => {
        const socket = net.connect({ host, port: ${plain}, timeout: 3000 });
        socket.on('connect', () => resolve(host)).on('timeout', () => resolve('')).on('error', () => resolve(''));
      }))).then((all) => { console.log(all.join('')); process.exit(0); });`;
    expect((await run(sandbox, 'node', '-e', direct)).stdout).toBe('\n');
    const interfaces = await run(sandbox, 'sh', '-c', 'ls /sys/class/net');
    expect(interfaces.stdout).toBe('lo\n');
    expect(records.slice(before).map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ['attempt:attempt-1', 'egress.refused', 'other.test:443'],
      ['attempt:attempt-1', 'egress.refused', 'other.test:80'],
      ['attempt:attempt-1', 'egress.refused', `public.test:${plain}`],
    ]);
  });

  it('cannot be put to other uses: names in TLS and Host that differ, and things that are neither', async () => {
    seen.length = 0;
    const before = records.length;
    const script = `
      const net = require('node:net'); const tls = require('node:tls');
      const tunnel = (port) => new Promise((resolve) => {
        const socket = net.connect(3128, '127.0.0.1', () =>
          socket.write('CONNECT registry.test:' + port + ' HTTP/1.1\\r\\nHost: registry.test:' + port + '\\r\\n\\r\\n'));
        socket.once('data', () => resolve(socket));
      });
      const end = (socket) => new Promise((resolve) => {
        let said = ''; socket.on('data', (data) => { said += data; });
        socket.on('error', () => {}).on('close', () => resolve(said.split('\\r\\n')[0]));
      });
      (async () => {
        const fronted = tls.connect({ socket: await tunnel(${tls}), servername: 'evil.test', rejectUnauthorized: false });
        console.log('tls', await end(fronted));
        const hosted = await tunnel(${plain});
        hosted.write('GET /x HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n');
        console.log('host', await end(hosted));
        const absolute = await tunnel(${plain});
        absolute.write('GET http://evil.test/x HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n');
        console.log('absolute', await end(absolute));
        const other = await tunnel(${plain});
        other.write('\\0\\x01\\x02');
        console.log('bytes', await end(other));
        const fine = await tunnel(${plain});
        fine.write('GET /fine HTTP/1.1\\r\\nHost: registry.test:${plain}\\r\\n\\r\\n');
        console.log('fine', await end(fine));
      })();`;
    expect((await run(sandbox, 'node', '-e', script)).stdout.split('\n')).toEqual([
      'tls ',
      'host HTTP/1.1 403 Host names another place than the request',
      'absolute HTTP/1.1 400 not a path, as it must be in a tunnel',
      'bytes ',
      'fine HTTP/1.1 200 OK',
      '',
    ]);
    expect(seen).toEqual([`registry.test:${plain} GET /fine`]);
    const refused = records.slice(before).filter(({ action }) => action === 'egress.refused');
    expect(refused.map(({ detail }) => detail['reason'])).toEqual([
      'the TLS client hello names "evil.test"',
      'Host names another place than the request',
      'not a path, as it must be in a tunnel',
      'the tunnel carries neither TLS nor HTTP',
    ]);
  });

  it('has its socket for itself, and leaves nothing behind', async () => {
    const sockets = join(dirname(setting.workspacesDir), 'egress');
    expect(existsSync(sockets) ? readdirSync(sockets).length : 0).toBe(transport === 'stream' ? 0 : 1);
    const look =
      'ls -la /run/patchfleet 2>&1 | wc -l; touch /run/patchfleet/x 2>/dev/null && echo written; rm -f /run/patchfleet/egress.sock 2>/dev/null && echo removed; true';
    const said = await run(sandbox, 'sh', '-c', look);
    expect(said.stdout).not.toMatch(transport === 'stream' ? /written/ : /written|removed/);
    await sandbox.close();
    expect(existsSync(sockets) ? readdirSync(sockets) : []).toEqual([]);
    expect(records.at(-1)).toMatchObject({ actor: 'attempt:attempt-1', action: 'egress.closed' });
  });
});

it('without rules there is no port, no socket and no variable, whatever the operator allows', async () => {
  const setting = createSetting({}, { egress: { audit: async () => {}, resolve } });
  try {
    const sandbox = await setting.acquire({ 'a.txt': 'a' }, 'attempt-2', { network: [] });
    const script = `env | grep -i prox; ls /run/patchfleet;
      node -e "require('net').connect(3128, '127.0.0.1').on('error', (e) => console.log(e.code))"`;
    const { stdout } = await run(sandbox, 'sh', '-c', script);
    expect(stdout).toBe('ECONNREFUSED\n');
    expect(existsSync(join(dirname(setting.workspacesDir), 'egress'))).toBe(false);
  } finally {
    await setting.end();
  }
});

it('sockets of dead workers are reaped, those of the living are not', async () => {
  const setting = createSetting({}, { egress: { audit: async () => {}, resolve } });
  try {
    const sockets = join(dirname(setting.workspacesDir), 'egress');
    for (const worker of ['dead', 'alive', 'tester']) {
      mkdirSync(join(sockets, `${worker}@0123456789abcdef`), { recursive: true });
    }
    await setting.sandboxes.reap(async (worker) => worker === 'alive');
    expect(readdirSync(sockets)).toEqual(['alive@0123456789abcdef']);
  } finally {
    await setting.end();
  }
});
