/**
 * The engine alone, in a process of its own: `program.ts PART,...` with the environment of the command line. Attempts
 * and publishing return at once; everything between is the real thing. Prints {@link EngineFigures} as one line of
 * JSON on standard output.
 */
import { compose } from '../../../src/compose.ts';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { readEnvironment } from '../../../src/config/read-environment.ts';
import { startService } from '../../../src/service.ts';
import { createNoOpSandboxes, noSnapshots } from '../stage/no-op-sandboxes.ts';
import { createDriver } from './driver.ts';
import { measureEngine } from './measure.ts';

/** Attempts at once: of the worker and of each task. */
const places = 32;

const env = readEnvironment(process.env);
if (!env.ok) throw new Error(JSON.stringify(env.problems));
const operator = operatorConfigSchema.parse({
  agents: [{ name: 'nobody', kind: 'command', command: ['true'], format: 'lines' }],
  limits: { parallel: places, task_parallel: places },
});
const parts = await compose(env.value, operator, process.env, {
  sandboxes: createNoOpSandboxes(),
  snapshots: noSnapshots,
  perform: async () => ({ summary: '', turns: 0 }),
});
const driver = createDriver(parts);
const service = await startService(
  // The driver plans.
  { ...parts, plan: async () => {}, publish: driver.publish },
  { serve: true, work: true },
  operator,
  { host: '127.0.0.1', port: 0 },
);
const say = (line: string) => process.stderr.write(`bench: ${line}\n`);
try {
  process.stdout.write(`${JSON.stringify(await measureEngine(driver, say))}\n`);
} finally {
  await service.stop();
}
