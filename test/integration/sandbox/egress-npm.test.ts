import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EgressRecord } from '../../../src/sandbox/egress/egress.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { createSetting, never } from './docker-setting.ts';

/** A package as npm publishes one. */
function tarball(): Buffer {
  const dir = mkdtempSync(join(tmpdir(), 'patchfleet-npm-'));
  try {
    mkdirSync(join(dir, 'package'));
    writeFileSync(join(dir, 'package/package.json'), JSON.stringify({ name: 'small', version: '1.0.0' }));
    writeFileSync(join(dir, 'package/index.js'), "module.exports = 'small indeed';\n");
    return execFileSync('tar', ['-czf', '-', 'package'], { cwd: dir });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const { key, cert } = selfSigned('registry.test');
const archive = tarball();
let port = 0;
const registry = createServer({ key, cert }, (request, response) => {
  if (request.url === '/small/-/small-1.0.0.tgz') return void response.end(archive);
  if (request.url !== '/small') return void response.writeHead(404).end('{}');
  const dist = {
    tarball: `https://registry.test:${port}/small/-/small-1.0.0.tgz`,
    integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
  };
  const version = { name: 'small', version: '1.0.0', dist };
  response.setHeader('Content-Type', 'application/json');
  response.end(
    JSON.stringify({ name: 'small', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }),
  );
});
beforeAll(async () => {
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const address = registry.address();
  port = address !== null && typeof address === 'object' ? address.port : 0;
});
afterAll(() => void registry.close());

it('npm installs from a registry that is allowed, and says what is missing of one that is not', async () => {
  const records: EgressRecord[] = [];
  const audit = async (record: EgressRecord) => void records.push(record);
  const setting = createSetting(
    { memory_mib: 512 },
    { egress: { audit, resolve: async () => ['127.0.0.1'] } },
  );
  try {
    const files = { 'ca.pem': cert, 'package.json': JSON.stringify({ dependencies: { small: '1.0.0' } }) };
    const network = [{ host: 'registry.test', port, private: true }];
    const sandbox = await setting.acquire(files, 'attempt-1', { network });
    const npm = (host: string, ...args: string[]) =>
      sandbox.run(['npm', ...args, '--no-audit', '--no-fund', `--registry=https://${host}:${port}`], {
        ...{ signal: never, wallMs: 100_000 },
        env: { NODE_EXTRA_CA_CERTS: '/workspace/ca.pem', npm_config_fetch_retries: '0' },
      });
    const installed = await npm('registry.test', 'install');
    expect(installed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('added 1 package') });
    const used = await sandbox.run(['node', '-p', "require('small')"], { signal: never, wallMs: 60_000 });
    expect(used.stdout).toBe('small indeed\n');

    const refused = await npm('other.test', 'install', 'large');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      `npm error 403 403 other.test:${port} may not be reached from this sandbox. If it should be, name it in ` +
        '`setup.network.allow` of .github/patchfleet.yml, and let the operator add it to `sandbox.network.allow`',
    );
    const places = new Set(records.map(({ action, subject }) => `${action} ${subject}`));
    expect([...places].toSorted()).toEqual([
      `egress.allowed registry.test:${port}`,
      `egress.refused other.test:${port}`,
    ]);
  } finally {
    await setting.end();
  }
});
