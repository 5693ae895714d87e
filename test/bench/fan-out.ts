import { sandboxConfigSchema, timingSchema } from '../../src/config/operator-config.ts';
import { connectTo, sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { describeWorld } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { askFix } from '../support/fixes/read-fix.ts';
import type { BehaviourInput } from '../support/model/behaviour.ts';
import { measureFanOut } from './fan-out-stages.ts';
import { type FanOutRows, readFanOut } from './read-fan-out.ts';
import type { Bench } from './result.ts';

const subtasks = 40;
const parallel = 20;
/** Of the model per subtask: look, change, finish. */
const calls = 3;
const callMs = 1000;
const limitMs = 600_000;

const fileOf = (row: number) => `src/part-${String(row + 1).padStart(2, '0')}.js`;

/**
 * A fix of 40 subtasks, 20 at once, each of three model calls of a second in a container of its own that write one
 * file; one process, the embedded database, the operator's defaults beside the parallelism. Nothing is verified
 * (`verify.commands` is empty), so that what is beyond the model's time is the engine's and the sandboxes'.
 */
export const fanOut: Bench = async ({ say, signal }) => {
  const rows = Array.from({ length: subtasks }, (_, row) => row);
  const world = await startWorld({
    files: {
      '.github/patchfleet.yml': 'review:\n  enabled: false\nverify:\n  commands: []\n',
      ...Object.fromEntries(rows.map((row) => [fileOf(row), `export const part = ${row + 1};\n`])),
    },
    operator: {
      limits: { parallel, task_parallel: parallel },
      timing: timingSchema.parse({}),
      sandbox: defaultSandbox(),
    },
  });
  try {
    world.model.configure(script(rows));
    say(`${subtasks} subtasks, ${parallel} at once, ${calls} model calls of ${callMs / 1000} s each`);
    const seen = await runFix(world, say, signal);
    const result = measureFanOut(seen, world.model.journal(), { subtasks, parallel, calls, callMs });
    await judge(world);
    return result;
  } finally {
    await world.close();
  }
};

/** What the model plans and does: a row for each file, which writes it. */
function script(rows: readonly number[]): BehaviourInput {
  return {
    latencyMs: callMs,
    plans: [
      {
        rows: rows.map((row) => ({
          title: `part ${row + 1}`,
          goal: `Write part ${row + 1}.`,
          writes: [fileOf(row)],
        })),
      },
    ],
    fixes: [{ path: 'src/part-*.js', content: 'export const part = "rewritten";\n' }],
  };
}

/** The operator's defaults; the image is that of the tests. */
function defaultSandbox() {
  const { image: _, ...defaults } = sandboxConfigSchema.parse({});
  return defaults;
}

async function runFix(world: World, say: (line: string) => void, signal: AbortSignal): Promise<FanOutRows> {
  const client = await connectTo(world.dataDir);
  try {
    signal.throwIfAborted();
    await askFix(world);
    let shown = 0;
    return await until(
      'the fix is finished',
      async () => {
        const ended = world.apps.find((app) => app.exitCode() !== null);
        if (ended !== undefined) throw new Error(`Patchfleet ended by itself\n${await describeWorld(world)}`);
        const seen = await readFanOut(client);
        const over = seen.subtasks.filter(
          ({ status }) => status !== 'waiting' && status !== 'running',
        ).length;
        if (over >= shown + 10) {
          shown = over;
          say(`${over} of ${seen.subtasks.length} rows are over`);
        }
        return seen.task?.finishedAt != null && seen;
      },
      { limitMs, everyMs: 500, signal, describe: () => describeWorld(world) },
    );
  } finally {
    await client.end();
  }
}

/** The figures stand only for a run in which everything was as it should be. */
async function judge(world: World): Promise<void> {
  const { github, model, repository } = world;
  await github.settled();
  const [pull, ...more] = await github.pullRequests(repository);
  let missing = 0;
  for (let row = 0; row < subtasks; row += 1) {
    const text = pull === undefined ? null : await github.fileAt(repository, pull.headSha, fileOf(row));
    if (text?.includes('rewritten') !== true) missing += 1;
  }
  await Promise.all(world.apps.map((app) => app.stop()));
  const left = (await sandboxesOf(world.dataDir)).length;
  const problems = [
    ...(pull === undefined || more.length > 0 ? ['there is not exactly one pull request'] : []),
    ...(missing > 0 ? [`${missing} of ${subtasks} files are not rewritten in the pull request`] : []),
    ...(left > 0 ? [`${left} containers were left`] : []),
    ...github.unexpected.map((request) => `GitHub has no such route: ${request}`),
    ...github.violations.map((problem) => `against GitHub's description: ${problem}`),
    ...model.journal().flatMap(({ refusal }) => (refusal === null ? [] : [`the model refused: ${refusal}`])),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
