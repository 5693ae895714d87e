import type { Sandboxes } from '../../../src/sandbox/port.ts';
import { until } from '../../support/app/until.ts';
import { coldRun } from './by-engine.ts';
import { warmFigures } from './figures.ts';
import { type Stage, timed } from './stage.ts';

const rounds = 12;
/** Opened without a pool, all asked for at once. */
const many = 16;
const command = ['true'];

/** A sandbox of the warm pool up to the end of the first command, beside a hardened `docker run` and a cold sandbox. */
export async function measureWarm(stage: Stage) {
  const { snapshot } = await stage.snapshotOf(1000);
  const pooled = stage.sandboxes({ pool: { ...stage.config.pool, max: rounds, idle_seconds: 3600 } });
  const unpooled = stage.sandboxes({ pool: { ...stage.config.pool, max: 0 } });
  stage.say(`${rounds} sandboxes are started ahead`);
  pooled.prewarm({ snapshot }, rounds);
  const { signal } = stage;
  await until('the pool is full', () => pooled.figures.started >= rounds, { limitMs: 120_000, signal });

  const times = { coldRun: [] as number[], coldSandbox: [] as number[], warm: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    signal.throwIfAborted();
    times.coldRun.push(await coldRun(stage, command));
    times.warm.push(await useOne(stage, pooled, snapshot));
    times.coldSandbox.push(await useOne(stage, unpooled, snapshot));
  }
  const { ready } = pooled.figures;
  if (ready !== rounds) throw new Error(`of ${rounds} sandboxes ${ready} came from the pool`);
  await pooled.close();
  stage.say(`${many} cold sandboxes at once`);
  const manyMs = await timed(() =>
    Promise.all(Array.from({ length: many }, () => useOne(stage, unpooled, snapshot))),
  );
  return warmFigures({ ...times, many: { count: many, ms: manyMs } });
}

/** Milliseconds from asking for one to the end of its first command; closing it is not counted. */
async function useOne({ signal, request }: Stage, sandboxes: Sandboxes, snapshot: string): Promise<number> {
  const begin = performance.now();
  const sandbox = await sandboxes.acquire(request(snapshot), signal);
  try {
    const { exitCode } = await sandbox.run(command, { signal, wallMs: 10_000 });
    const ms = performance.now() - begin;
    if (exitCode !== 0) throw new Error(`the first command ended with ${String(exitCode)}`);
    return ms;
  } finally {
    await sandbox.close();
  }
}
