#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { readEnvironment, readPlaces } from './config/read-environment.ts';
import { loadOperatorConfig, loadSandboxConfig } from './config/read-operator-config.ts';
import { formatProblem, type Problem } from './config/read-yaml-config.ts';
import { readDeadCommand, runDead } from './dead.ts';
import type { SandboxCheck } from './sandbox/port.ts';

const usage = `Usage: patchfleet <command>

  all      webhooks and workers in one process
  serve    webhooks, admission, advancing, publishing: needs git, no Docker
  work     planning and agents: needs git and Docker
  doctor   checks configuration, database, GitHub App and sandbox images, and says what to do;
           doctor --image X checks the image X alone
  dead     what failed for good: dead list | show ID | retry ID | drop ID

Configuration: environment variables and patchfleet.yml; see docs/configuration.md.
`;

/** Exit codes: 0 done, 1 failed, 2 wrong usage or configuration. */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, image: { type: 'string' } },
  });
  const [command, ...rest] = positionals;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const dead = command === 'dead' ? readDeadCommand(rest) : null;
  const known = command !== undefined && ['all', 'serve', 'work', 'doctor'].includes(command);
  const { image } = values;
  const misplaced = image !== undefined && (command !== 'doctor' || image === '');
  if (misplaced || (dead === null && (!known || rest.length > 0))) {
    process.stderr.write(usage);
    return 2;
  }

  const places = readPlaces(process.env);
  if (dead !== null) return await runDead(dead, places);
  if (image !== undefined) {
    const sandbox = await loadSandboxConfig(places.PATCHFLEET_CONFIG);
    if (!sandbox.ok) return explain(places.PATCHFLEET_CONFIG, sandbox.problems);
    const { runImageDoctor } = await import('./doctor.ts');
    return report(await runImageDoctor(image, places, sandbox.value));
  }
  const env = readEnvironment(process.env);
  if (!env.ok) return explain('environment', env.problems);
  const operator = await loadOperatorConfig(env.value.PATCHFLEET_CONFIG, env.value);
  if (!operator.ok) return explain(env.value.PATCHFLEET_CONFIG, operator.problems);

  // Before anything starts: a signal that comes meanwhile is not lost.
  const stopped = untilSignal();
  // Loaded where it is needed: what only reads the database need not wait for all of it.
  const [{ compose }, { startService }, { runDoctor }] = await Promise.all([
    import('./compose.ts'),
    import('./service.ts'),
    import('./doctor.ts'),
  ]);
  const parts = await compose(env.value, operator.value, process.env);
  if (command === 'doctor') {
    return report(await runDoctor(parts, env.value, operator.value.sandbox).finally(parts.close));
  }
  const roles = { serve: command !== 'work', work: command !== 'serve' };
  const address = { host: env.value.HOST, port: env.value.PORT };
  const service = await startService(parts, roles, operator.value, address).catch(async (error: unknown) => {
    await parts.close();
    throw error;
  });
  process.stdout.write(service.url === null ? 'working\n' : `listening on ${service.url}\n`);
  const signal = await stopped;
  parts.log.info({ signal }, 'stopping');
  await service.stop();
  return 0;
}

/** The first SIGTERM or SIGINT stops gracefully; a second one ends the process at once. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.on(name, (signal) => {
        resolve(signal);
        process.once(signal, () => process.exit(1));
      });
  });
}

/** What a doctor found, one line each. */
function report({ problems, notes }: SandboxCheck): number {
  const verdict = problems.length === 0 ? ['all well'] : problems;
  process.stdout.write(`${[...notes, ...verdict].join('\n')}\n`);
  return problems.length === 0 ? 0 : 1;
}

function explain(file: string, problems: readonly Problem[]): number {
  for (const problem of problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
  return 2;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
