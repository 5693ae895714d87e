/** A worker to be killed: opens a sandbox that asks a registry again and again, says so and waits. */
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';

const [instance = '', workspacesDir = '', snapshot = '', port = '', runtime] = process.argv.slice(2);
const signal = new AbortController().signal;
const image = process.env['PATCHFLEET_TEST_IMAGE'];
const sandboxes = createSandboxes({
  dockerHost: process.env['DOCKER_HOST'],
  config: sandboxConfigSchema.parse({
    ...{ memory_mib: 256, runtime: runtime ?? null },
    ...(image === undefined ? {} : { image }),
  }),
  instance,
  worker: 'killed',
  workspacesDir,
  egress: { audit: async () => {}, resolve: async () => ['127.0.0.1'] },
});
const network = [{ host: 'registry.test', port: Number(port), private: true }];
const request = { taskId: 'task', attemptId: 'attempt', snapshot, wallMs: 120_000, network };
const sandbox = await sandboxes.acquire(request, signal);
const asking = `
import urllib.request as u
while True:
    try: u.urlopen('http://registry.test:${port}/').read()
    except Exception: pass`;
const running = sandbox.run(['python3', '-c', asking], { signal, wallMs: 100_000 });
process.stdout.write(`${sandbox.containerId}\n`);
await running;
