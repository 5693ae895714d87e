import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseUrl, removeDataDirectory } from '../support/app/data-directory.ts';
import { startRedis } from '../support/redis.ts';
import type { EngineFigures } from './engine/measure.ts';
import { type Bench, type BenchContext, isAsked, renderTable, rounded } from './result.ts';

interface ModeResult {
  readonly mode: 'embedded' | 'redis';
  /** Subtasks a second, of tasks with 100 rows. */
  readonly perSecond: number;
  /** Jobs a second that BullMQ does by itself. */
  readonly bareBullmqPerSecond: number;
  readonly fraction: number;
  /** The greater of the next two: what a subtask costs in a large history, over what it costs in a small one. */
  readonly growth: number;
  /** Of one task with 10,000 rows over one with 1,000. */
  readonly growthInTask: number;
  /** Of tasks of 100 rows with 12,000 finished subtasks before them over such with 200. */
  readonly growthOverTasks: number;
  readonly msPerSubtask: EngineFigures;
}

const modes = ['embedded', 'redis'] as const;

/**
 * What a subtask costs that does nothing, from the plan to the settled task, in one process: rows planned, advance,
 * queue, claim, result, advance. Embedded is BullMQ on the Postgres of the rows, redis BullMQ on Redis.
 */
export const engine: Bench = async (context) => {
  const results: ModeResult[] = [];
  for (const mode of modes) if (isAsked(mode, context)) results.push(await measure(mode, context));
  const table = renderTable(
    [
      ['mode', 'subtasks/s', 'bare BullMQ/s', 'fraction', 'in one task', 'over tasks'],
      ...results.map((one) => [
        one.mode,
        one.perSecond.toFixed(0),
        one.bareBullmqPerSecond.toFixed(0),
        one.fraction.toFixed(3),
        `${one.growthInTask.toFixed(2)}x`,
        `${one.growthOverTasks.toFixed(2)}x`,
      ]),
    ],
    1,
  );
  return { json: { modes: results }, text: table };
};

async function measure(mode: ModeResult['mode'], { say, signal }: BenchContext): Promise<ModeResult> {
  await using opened = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'bench-'));
  await chmod(dir, 0o755);
  opened.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const dataDir = join(dir, 'data');
  opened.defer(() => removeDataDirectory(dataDir));
  const redis = mode === 'redis' ? opened.use(await startRedis()) : null;
  const env = {
    ...environment(),
    PATCHFLEET_DATA: dataDir,
    ...(redis === null ? {} : { REDIS_URL: redis.url, DATABASE_URL: await databaseUrl(dataDir) }),
  };
  say(`${mode}: bare BullMQ`);
  const bare = await runProgram<{ perSecond: number }>('bare-bullmq.ts', env, signal);
  say(`${mode}: ${bare.perSecond.toFixed(0)} jobs a second; the engine`);
  const figures = await runProgram<EngineFigures>('program.ts', env, signal);
  const perSecond = 1000 / figures.manyTasksMs;
  const growthInTask = figures.largeTaskMs / figures.smallTaskMs;
  const growthOverTasks = figures.manyTasksLaterMs / figures.manyTasksMs;
  return {
    mode,
    perSecond: rounded(perSecond),
    bareBullmqPerSecond: rounded(bare.perSecond),
    fraction: rounded(perSecond / bare.perSecond),
    growth: rounded(Math.max(growthInTask, growthOverTasks)),
    growthInTask: rounded(growthInTask),
    growthOverTasks: rounded(growthOverTasks),
    msPerSubtask: figures,
  };
}

/** A GitHub App that nobody asks anything of. */
function environment(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { APP_ID: '1', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: 'secret', LOG_LEVEL: 'error' };
}

/** Runs one of the programs in `engine/`; what it says last on standard output is its result. */
async function runProgram<T>(
  name: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<T> {
  const options = process.env['PATCHFLEET_BENCH_NODE_OPTIONS'];
  const child = spawn(process.execPath, [fileURLToPath(new URL(`./engine/${name}`, import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'] ?? '',
      TMPDIR: tmpdir(),
      ...env,
      ...(options === undefined ? {} : { NODE_OPTIONS: options }),
    },
    signal,
  });
  child.on('error', () => {}); // an abort; told by its end
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  signal.throwIfAborted();
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  if (code !== 0 || last === '') throw new Error(`${name} ended with ${code}`);
  return JSON.parse(last) as T;
}
