import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { main, root } from '../../support/app/start-app.ts';

let dataDir = '';
/** Knows no App. */
const github = createServer((_, answer) => answer.writeHead(404).end('{}'));
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'doctor-'));
  await chmod(dataDir, 0o755);
  await once(github.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  github.close();
  await rm(dataDir, { recursive: true, force: true });
});

const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

/** `patchfleet doctor`, where there is neither App nor engine, on a machine with that `kernel.core_pattern`. */
async function doctor(corePattern: string): Promise<{ code: number | undefined; lines: string[] }> {
  const pattern = join(dataDir, 'core_pattern');
  await writeFile(pattern, `${corePattern}\n`);
  // Laid over the real one for this process alone.
  const over = 'mount --bind "$0" /proc/sys/kernel/core_pattern && exec "$@"';
  const { exitCode, stdout } = await execa(
    'unshare',
    ['--mount', 'sh', '-c', over, pattern, process.execPath, main, 'doctor'],
    {
      ...{ cwd: root, reject: false, extendEnv: false },
      env: {
        PATH: process.env['PATH'] ?? '',
        APP_ID: '1',
        PRIVATE_KEY: key,
        WEBHOOK_SECRET: 'secret',
        GITHUB_API_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}`,
        DOCKER_HOST: `unix://${join(dataDir, 'nobody.sock')}`,
        PATCHFLEET_DATA: dataDir,
        PATCHFLEET_CONFIG: join(dataDir, 'none.yml'),
        OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
        OPENAI_API_KEY: 'unused',
        MODEL: 'unused',
        LOG_LEVEL: 'fatal',
      },
    },
  );
  return { code: exitCode, lines: stdout.split('\n') };
}

it.runIf(process.getuid?.() === 0)(
  'tells of a machine that hands what crashes in sandboxes to a program, beside what is wrong',
  async () => {
    const wrong = [
      expect.stringMatching(/^GitHub App: .* Check APP_ID, PRIVATE_KEY and GITHUB_API_URL\.$/),
      expect.stringMatching(/^The Docker engine cannot be reached /),
    ];
    expect(await doctor('@/run/systemd/coredump')).toEqual({
      code: 1,
      lines: [
        expect.stringContaining(
          '(/proc/sys/kernel/core_pattern is `@/run/systemd/coredump`). Set `kernel.core_pattern=core`',
        ),
        ...wrong,
      ],
    });
  },
);
