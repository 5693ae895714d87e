/** A worker to be killed: has two sandboxes started ahead and takes one, says which there are, and waits. */
import { setInterval } from 'node:timers/promises';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';

const [instance = '', workspacesDir = '', snapshot = '', image] = process.argv.slice(2);
const signal = new AbortController().signal;
const config = { memory_mib: 256, ...(image === undefined ? {} : { image }) };
const sandboxes = createSandboxes({
  dockerHost: process.env['DOCKER_HOST'],
  config: sandboxConfigSchema.parse(config),
  instance,
  worker: 'killed',
  workspacesDir,
});
sandboxes.prewarm({ snapshot }, 2);
for await (const _ of setInterval(20)) if (sandboxes.figures.started === 2) break;
await sandboxes.acquire({ taskId: 'task', attemptId: 'attempt', snapshot, wallMs: 120_000 }, signal);
process.stdout.write(`${JSON.stringify(sandboxes.figures)}\n`);
for await (const _ of setInterval(60_000)) signal.throwIfAborted();
