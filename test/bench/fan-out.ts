import { type Case, type CaseResult, cases, serialOf } from './fan-out-cases.ts';
import { runGraph, withStage } from './fan-out-run.ts';
import type { FanOutResult, Stage } from './fan-out-stages.ts';
import { type Bench, type BenchContext, isAsked, renderTable, rounded, seconds } from './result.ts';

/**
 * How near a fan-out comes to the least time it can take: a fix as a user asks for it, its rows with three model calls
 * each, on Redis and Postgres, with sandboxes that cost nothing and with containers. Nothing is verified
 * (`verify.commands` is empty), so that what is beyond the model's time is the engine's and the sandboxes'.
 */
export const fanOut: Bench = async (context) => {
  const results: CaseResult[] = [];
  for (const one of cases) {
    if (isAsked(`${one.name} ${one.sandbox}`, context)) results.push(await measure(one, context));
  }
  const stages = results.find(({ name, sandbox }) => name === '40x20' && sandbox === 'docker')?.stages;
  return {
    json: { cases: results, ...(stages === undefined ? {} : { stages }), notes },
    text: [table(results), ...results.map(renderStages)].join('\n\n'),
  };
};

const notes = {
  wall: 'from the stored plan to the settled task; one warm-up task before it',
  serial:
    'measured: run with one attempt at a time; summed: the durations of the attempts of the parallel run',
  barrier:
    'measured: each layer waits for the whole one before it, same engine; waves: computed, the attempts of the parallel run in waves of `parallel`, each as long as its longest',
};

async function measure(one: Case, context: BenchContext): Promise<CaseResult> {
  const { name, subtasks, parallel, sandbox, idealMs } = one;
  const { say } = context;
  const label = `${name}, ${sandbox === 'none' ? 'no-op sandboxes' : 'containers'}`;
  const parts = await withStage(one, parallel, context, async (stage) => {
    say(`${label}: ${subtasks} subtasks, ${parallel} at once`);
    const wall = await runGraph(stage, one, one.rows);
    say(`${label}: wall ${seconds(wall.wallMs)}, ideal ${seconds(idealMs)}`);
    if (one.barrier === null) return { wall, barrier: null };
    say(`${label}: the same, layer by layer`);
    return { wall, barrier: await runGraph(stage, one, one.barrier) };
  });
  const { wall, barrier } = parts;
  let serial: FanOutResult | null = null;
  if (one.runSerial) {
    say(`${label}: the same, one after the other`);
    serial = await withStage(one, 1, context, (stage) => runGraph(stage, one, one.rows));
  }
  return {
    name,
    subtasks,
    parallel,
    sandbox,
    wallMs: wall.wallMs,
    idealMs,
    ratio: rounded(wall.wallMs / idealMs),
    ...serialOf(wall, serial, barrier, parallel),
    maxConcurrent: wall.maxConcurrent,
    totalMs: wall.totalMs,
    stages: wall.stages,
  };
}

function table(results: readonly CaseResult[]): string {
  return renderTable(
    [
      ['case', 'sandbox', 'wall', 'ideal', 'ratio', 'serial', 'barrier', 'at once'],
      ...results.map((one) => [
        one.name,
        one.sandbox,
        seconds(one.wallMs),
        seconds(one.idealMs),
        one.ratio.toFixed(3),
        `${seconds(one.serialMs)} (${one.serial})`,
        `${seconds(one.barrierMs)} (${one.barrier})`,
        String(one.maxConcurrent),
      ]),
    ],
    2,
  );
}

function renderStages({ name, sandbox, stages }: CaseResult): string {
  const rows = Object.entries(stages).map(([stage, one]: [string, Stage]) => [
    stage,
    one.per,
    ...[one.medianMs, one.maxMs, one.sumMs].map(seconds),
    one.share.toFixed(2),
  ]);
  return renderTable([[`${name} ${sandbox}`, 'per', 'median', 'max', 'sum', 'share'], ...rows], 2);
}
