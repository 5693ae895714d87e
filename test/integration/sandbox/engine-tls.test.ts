import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectEngine } from '../../../src/sandbox/container/docker-host.ts';
import { inherited } from '../../support/app/start-app.ts';
import { selfSigned } from '../../support/self-signed.ts';

/** The machine's engine behind TLS, for those alone who show the client's certificate, as `dockerd --tlsverify` is. */

const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest';
const socketPath = process.env['DOCKER_HOST']?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';
const engine = selfSigned('localhost');
const client = selfSigned('client');

let home: string;
let door: Server;
let host: string;
const open = new Set<Socket>();
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-engine-tls-'));
  writeFileSync(join(home, 'ca.pem'), engine.cert);
  writeFileSync(join(home, 'cert.pem'), client.cert);
  writeFileSync(join(home, 'key.pem'), client.key);
  const options = { ...engine, ca: client.cert, requestCert: true, rejectUnauthorized: true };
  door = createServer({ ...options, allowHalfOpen: true }, (from) => {
    const to = connect({ path: socketPath, allowHalfOpen: true });
    for (const one of [from, to]) {
      open.add(one);
      one.on('error', () => {}).on('close', () => [from, to].map((other) => other.destroy()));
    }
    from.pipe(to).pipe(from);
  });
  door.on('tlsClientError', () => {});
  await once(door.listen(0, 'localhost'), 'listening');
  host = `tcp://localhost:${(door.address() as AddressInfo).port}`;
});
afterAll(async () => {
  door.close();
  for (const one of open) one.destroy();
  await rm(home, { recursive: true });
});

it('is used by TLS as the docker command line would: a trial sandbox starts, works and ends by it', async () => {
  const config = join(home, 'patchfleet.yml');
  writeFileSync(config, `sandbox: { image: '${image}' }\n`);
  const env = {
    ...Object.fromEntries(inherited.map((variable) => [variable, process.env[variable]])),
    ...{ DOCKER_HOST: host, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: home },
    ...{ PATCHFLEET_CONFIG: config, PATCHFLEET_DATA: join(home, 'data') },
  };
  const ended = await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['src/main.ts', 'doctor', '--image', image],
      { env },
      (_, stdout) => resolve({ code: child.exitCode, lines: stdout.trim().split('\n') }),
    );
  });
  expect(ended).toEqual({ code: 0, lines: [expect.stringMatching(/^\S+ has \d+ MiB\.$/), 'all well'] });
});

it('is not taken for another, nor spoken to without TLS, and what is missing is named', async () => {
  const problemOf = (tls: Parameters<typeof connectEngine>[1]) =>
    connectEngine(host, tls)
      .requests.ping()
      .catch((thrown: NodeJS.ErrnoException) => thrown.code);
  expect(await problemOf({ verify: '1', certPath: home })).toEqual(Buffer.from('OK'));
  expect(await problemOf({})).toBe('ECONNRESET');
  const other = mkdtempSync(join(home, 'other-'));
  for (const [name, text] of Object.entries({ ca: client.cert, cert: client.cert, key: client.key }))
    writeFileSync(join(other, `${name}.pem`), text);
  expect(await problemOf({ verify: '1', certPath: other })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  const missing = join(home, randomBytes(4).toString('hex'));
  expect(() => connectEngine(host, { verify: '1', certPath: missing })).toThrow(
    expect.objectContaining({
      code: 'config_invalid',
      detail: expect.stringMatching(/DOCKER_CERT_PATH, or ~\/\.docker: ENOENT: .*\/ca\.pem/),
    }),
  );
});
