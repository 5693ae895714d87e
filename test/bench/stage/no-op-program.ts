/**
 * The program with sandboxes that cost nothing, for what everything around them takes: `no-op-program.ts all | serve |
 * work`, with the environment and operator file of the command line. Everything else is the real thing.
 */
import { compose } from '../../../src/compose.ts';
import { readEnvironment } from '../../../src/config/read-environment.ts';
import { loadOperatorConfig } from '../../../src/config/read-operator-config.ts';
import { startService } from '../../../src/service.ts';
import { createNoOpSandboxes, noSnapshots } from './no-op-sandboxes.ts';

const [role] = process.argv.slice(2);
const env = readEnvironment(process.env);
if (!env.ok) throw new Error(JSON.stringify(env.problems));
const operator = await loadOperatorConfig(env.value.PATCHFLEET_CONFIG, env.value);
if (!operator.ok) throw new Error(JSON.stringify(operator.problems));

const stopped = new Promise<void>((resolve) => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolve());
});
const standIns = { sandboxes: createNoOpSandboxes(), snapshots: noSnapshots };
const parts = await compose(env.value, operator.value, process.env, standIns);
const roles = { serve: role !== 'work', work: role !== 'serve' };
const service = await startService(parts, roles, operator.value, {
  host: env.value.HOST,
  port: env.value.PORT,
});
process.stdout.write(service.url === null ? 'working\n' : `listening on ${service.url}\n`);
await stopped;
await service.stop();
