import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { connectEngine } from '../../../src/sandbox/container/docker-host.ts';
import { createEgress, type OpenEgress } from '../../../src/sandbox/egress/open-egress.ts';
import { createSandboxOpener } from '../../../src/sandbox/open-sandbox.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { createWorkspaces } from '../../../src/sandbox/workspaces/create-workspaces.ts';
import { createSetting, docker, never, type Setting } from './docker-setting.ts';

let requests = 0;
const server = createServer((_, response) => {
  requests += 1;
  response.end('reached');
});
const portOf = () => {
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
};
let setting: Setting;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  setting = createSetting();
});
afterAll(async () => {
  server.close();
  await setting.end();
});

it.each(['socket', 'stream'] as const)(
  'nothing gets out by the %s once the proxy is gone',
  async (transport) => {
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest';
    const config = sandboxConfigSchema.parse({ image, memory_mib: 256, scratch_mib: 64, pids: 128 });
    const engine = connectEngine(process.env['DOCKER_HOST']);
    const { instance, home, workspacesDir: root } = setting;
    const common = {
      engine,
      config,
      instance,
      worker: 'tester',
      user: sandboxUser(),
      log: { warn: () => {} },
    };
    const egress = createEgress({
      ...common,
      root: join(home, 'egress'),
      options: {
        audit: async () => {},
        resolve: async () => ['127.0.0.1'],
        transport: transport === 'stream' ? 'stream' : 'auto',
      },
    });
    const ways: OpenEgress[] = [];
    const { open } = createSandboxOpener({
      ...common,
      workspaces: createWorkspaces({ ...common, root }),
      hosts: join(home, 'hosts'),
      egress: {
        ...egress,
        async open(name, rules) {
          const way = await egress.open(name, rules);
          if (way !== null) ways.push(way);
          return way;
        },
      },
    });
    const network = [{ host: 'registry.test', port, private: true }];
    const opened = await open({ snapshot: setting.snapshot({ 'a.txt': 'a' }), network }, never);
    const sandbox = opened.handOver(600_000);
    try {
      expect(opened.container.client.egress()).toBe(transport);
      const script = `import urllib.request as u; print(u.urlopen('http://registry.test:${port}/').read().decode())`;
      const ask = () => sandbox.run(['python3', '-c', script], { signal: never, wallMs: 60_000 });
      expect(await ask()).toMatchObject({ exitCode: 0, stdout: 'reached\n' });
      requests = 0;
      // Its connections are closed, as they are when its process dies; the sandbox goes on.
      for (const way of ways) await way.close();
      const refused = await ask();
      expect({ exitCode: refused.exitCode, stdout: refused.stdout, requests }).toEqual({
        ...{ exitCode: 1, stdout: '', requests: 0 },
      });
      expect((await sandbox.list('', { signal: never })).map(({ name }) => name)).toEqual(['a.txt']);
    } finally {
      await opened.discard();
    }
  },
);

it('nothing gets out once the worker is killed, and its socket is reaped by another', async () => {
  const program = fileURLToPath(new URL('egress-worker.ts', import.meta.url));
  const snapshot = setting.snapshot({ 'a.txt': 'a' });
  const worker = spawn(
    process.execPath,
    [program, setting.instance, setting.workspacesDir, snapshot, String(portOf())],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [containerId] = (await once(createInterface({ input: worker.stdout }), 'line')) as [string];
  const before = requests;
  await expect.poll(() => requests).toBeGreaterThan(before + 2);
  const sockets = join(dirname(setting.workspacesDir), 'egress');
  expect(readdirSync(sockets)).toEqual([expect.stringMatching(/^killed@/)]);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  // What it had sent before stands in the server's queue before this one.
  await fetch(`http://127.0.0.1:${portOf()}/`).then((response) => response.text());
  server.closeAllConnections();
  const after = requests;
  const state = () => docker('inspect', '--format', '{{.State.Running}}', containerId);
  await expect.poll(state, { interval: 200 }).toBe('false');
  expect(requests).toBe(after);
  await setting.sandboxes.reap(async () => false);
  expect(existsSync(sockets) ? readdirSync(sockets) : []).toEqual([]);
  expect(setting.containers()).toEqual([]);
});
