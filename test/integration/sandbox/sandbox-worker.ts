/** A worker, or a visitor, to be killed: opens a sandbox, starts something long in it, says so and waits. */
import { randomUUID } from 'node:crypto';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';
import { visit } from '../../../src/sandbox/visitor.ts';

const [instance = '', workspacesDir = '', snapshot = '', visitorsDir] = process.argv.slice(2);
const signal = new AbortController().signal;

async function work(worker: string): Promise<void> {
  const sandboxes = createSandboxes({
    dockerHost: process.env['DOCKER_HOST'],
    config: sandboxConfigSchema.parse({ memory_mib: 256 }),
    instance,
    worker,
    workspacesDir,
  });
  const attemptId = randomUUID();
  const sandbox = await sandboxes.acquire({ taskId: 'task', attemptId, snapshot, wallMs: 120_000 }, signal);
  const running = sandbox.run(['sh', '-c', 'setsid sleep 300 & sleep 300'], { signal, wallMs: 100_000 });
  process.stdout.write(`${JSON.stringify({ containerId: sandbox.containerId, attemptId })}\n`);
  await running;
}
await (visitorsDir === undefined ? work('killed') : visit(visitorsDir, work));
