import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compose, type StandIns } from '../../../src/compose.ts';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { readEnvironment } from '../../../src/config/read-environment.ts';
import type { Sandboxes } from '../../../src/sandbox/port.ts';

let dataDir = '';
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'compose-'));
  await chmod(dataDir, 0o755);
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

function composeWith(variables: Record<string, string>, standIns: StandIns = {}) {
  const env = readEnvironment({
    APP_ID: '1',
    PRIVATE_KEY: key,
    WEBHOOK_SECRET: 'secret',
    PATCHFLEET_DATA: dataDir,
    LOG_LEVEL: 'fatal',
    ...variables,
  });
  if (!env.ok) throw new Error(JSON.stringify(env.problems));
  return compose(env.value, operatorConfigSchema.parse({}), {}, standIns);
}

/** Whether the file of the server's process is there, which it is as long as it runs. */
const running = () => existsSync(join(dataDir, 'postgres/cluster/postmaster.pid'));

describe('the composition', () => {
  it('that fails leaves no database running', async () => {
    await expect(composeWith({ DOCKER_HOST: 'nonsense' })).rejects.toMatchObject({ code: 'config_invalid' });
    expect(running()).toBe(false);
  });

  it('takes how its engine is spoken to from the environment, and says what is missing', async () => {
    const tls = { DOCKER_HOST: 'tcp://localhost:2376', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: dataDir };
    await expect(composeWith(tls)).rejects.toMatchObject({
      code: 'config_invalid',
      detail: expect.stringContaining(join(dataDir, 'ca.pem')),
    });
  });

  it('runs its database until it is closed, and signs off once its sandboxes are gone', async () => {
    const did: string[] = [];
    const close = async () => {
      // Whoever reaped meanwhile would take them for a dead worker's.
      await new Promise(setImmediate);
      did.push('sandboxes closed');
    };
    const parts = await composeWith({}, { sandboxes: { close } as Partial<Sandboxes> as Sandboxes });
    vi.spyOn(parts.store.workers, 'leave').mockImplementation(async () => void did.push('signed off'));
    expect(running()).toBe(true);
    await parts.dispatch.stop();
    await parts.close();
    expect({ did, running: running() }).toEqual({
      did: ['sandboxes closed', 'signed off'],
      running: false,
    });
  });
});

describe('the command line', () => {
  it('that cannot listen says so, ends, and leaves no database running', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
    const ended = await execa(process.execPath, [main, 'serve'], {
      reject: false,
      extendEnv: false,
      env: {
        PATH: process.env['PATH'] ?? '',
        APP_ID: '1',
        PRIVATE_KEY: key,
        WEBHOOK_SECRET: 'secret',
        PATCHFLEET_DATA: dataDir,
        PATCHFLEET_CONFIG: join(dataDir, 'none.yml'),
        OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
        OPENAI_API_KEY: 'unused',
        MODEL: 'unused',
        LOG_LEVEL: 'fatal',
        PORT: port,
      },
    });
    other.close();
    expect({ code: ended.exitCode, said: ended.stderr }).toEqual({
      code: 1,
      said: expect.stringContaining('EADDRINUSE'),
    });
    expect(running()).toBe(false);
  });
});
