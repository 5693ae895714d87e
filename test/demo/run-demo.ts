import type { Client } from 'pg';
import { connectTo, sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { describeWorld } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import type { CheckRun, Review } from '../support/github/state.ts';
import { type Planted, readSample, type Sample } from '../support/sample/sample.ts';
import type { LiveLines } from './live-lines.ts';
import { mostAtOnce, readTimes, type StageTimes, stagesOf } from './measure.ts';
import { readShardStates } from './shard-states.ts';

/** Milliseconds a call of the scripted model takes: about what makes overlapping calls visible, and no more. */
const modelLatencyMs = 500;

export interface RealModel {
  readonly OPENAI_BASE_URL: string;
  readonly OPENAI_API_KEY: string;
  readonly MODEL: string;
}

export interface DemoOptions {
  /** Null: the scripted model. */
  readonly model: RealModel | null;
  readonly lines: LiveLines;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface DemoFacts {
  readonly scripted: boolean;
  readonly figures: {
    readonly shards: number;
    readonly shardsWithFaults: number;
    readonly maxConcurrent: number;
    readonly wallMs: number;
    readonly agentMsSum: number;
    readonly checkRuns: number;
    readonly reviews: number;
    readonly conclusion: string | null;
    readonly annotations: number;
    readonly inlineComments: number;
    readonly bodyFindings: number;
  };
  readonly stages: readonly StageTimes[];
  readonly checkRun: CheckRun;
  readonly review: Review;
  readonly planted: readonly Planted[];
  /** What the doubles saw that should not be. */
  readonly problems: readonly string[];
  readonly sandboxesLeft: number;
  /** Of the app, once told to stop. */
  readonly exitCode: number | string;
}

/** One pull request from its webhook to its review, on real parts; leaves nothing behind, whatever happens. */
export async function runDemo(options: DemoOptions): Promise<DemoFacts> {
  const { say, signal } = options;
  const sample = readSample();
  say(`Repository: ${Object.keys(sample.base).length} files; starting Patchfleet as one process ...`);
  const world = await startWorld({
    files: sample.base,
    // Small shards: the sample is small too, and this shows how they run beside each other.
    operator: { limits: { parallel: 8, shard_complexity: 60 }, sandbox: { concurrent_starts: 4 } },
    model: { latencyMs: modelLatencyMs },
    env: { ...options.model },
  });
  try {
    signal.throwIfAborted();
    const seen = await review(world, sample, options);
    const exitCodes = await Promise.all(world.apps.map((app) => app.stop()));
    const sandboxesLeft = (await sandboxesOf(world.dataDir)).length;
    return { ...seen, sandboxesLeft, exitCode: exitCodes.find((code) => code !== 0) ?? 0 };
  } finally {
    await world.close();
  }
}

async function review(world: World, sample: Sample, options: DemoOptions) {
  const { github, model, repository } = world;
  const client = await connectTo(world.dataDir);
  try {
    const started = performance.now();
    const pull = await github.openPullRequest(repository, {
      branch: 'summer',
      title: 'Coupons, sessions and a few helpers',
      body: 'What the summer sale needs.',
      files: sample.head,
    });
    options.say(
      `Pull request #${pull.number} opened: ${Object.keys(sample.head).length} files changed, webhook answered ${pull.delivery?.status} after ${Math.round(pull.delivery?.durationMs ?? 0)} ms`,
    );
    await watch(world, client, pull.headSha, options);
    const wallMs = Math.round(performance.now() - started);
    await github.settled();

    const checkRuns = (await github.checkRuns(repository)).filter((run) => run.headSha === pull.headSha);
    const reviews = await github.reviews(repository, pull.number);
    const [checkRun, posted] = [checkRuns[0], reviews[0]];
    if (checkRun === undefined || posted === undefined)
      throw new Error(`no review was posted\n${await describeWorld(world)}`);
    const { tasks, attempts } = await readTimes(client);
    const states = await readShardStates(client);
    const stages = stagesOf(tasks, attempts);
    // Only calls out of containers that the rows know too: the prompt alone could name anything.
    const containers = new Set(attempts.map(({ containerId }) => containerId));
    const calls = model
      .journal()
      .flatMap(({ startedAt, endedAt, sandbox }) =>
        containers.has(sandbox) ? [{ from: startedAt, to: endedAt ?? Date.now(), owner: sandbox }] : [],
      );
    // A real model keeps no journal for us: then the rows of the attempts have to do.
    const agents = attempts.flatMap(({ agentStartedAt, finishedAt, containerId }) =>
      agentStartedAt && finishedAt && containerId
        ? [{ from: agentStartedAt.getTime(), to: finishedAt.getTime(), owner: containerId }]
        : [],
    );
    const { rows } = await client.query<{ inBody: number }>(
      `select coalesce(sum((detail->>'inBody')::int), 0)::int as "inBody" from publications where kind = 'review'`,
    );
    return {
      scripted: options.model === null,
      figures: {
        shards: states.length,
        shardsWithFaults: states.filter((state) => state.findings > 0).length,
        maxConcurrent: mostAtOnce(options.model === null ? calls : agents),
        wallMs,
        agentMsSum: Math.round(stages.find(({ stage }) => stage === 'agent')?.sum ?? 0),
        checkRuns: checkRuns.length,
        reviews: reviews.length,
        conclusion: checkRun.conclusion,
        annotations: checkRun.annotations.length,
        inlineComments: posted.comments.length,
        bodyFindings: rows[0]?.inBody ?? 0,
      },
      stages,
      checkRun,
      review: posted,
      planted: sample.planted,
      problems: problemsOf(world),
    };
  } finally {
    await client.end();
  }
}

/** Shows the shards until the check run of the head is completed and the task is finished. */
async function watch(world: World, client: Client, headSha: string, options: DemoOptions): Promise<void> {
  await until(
    'the check run is completed',
    async () => {
      const ended = world.apps.find((app) => app.exitCode() !== null);
      if (ended !== undefined) throw new Error(`Patchfleet ended by itself\n${await describeWorld(world)}`);
      options.lines.update(await readShardStates(client));
      const runs = await world.github.checkRuns(world.repository);
      if (!runs.some((run) => run.headSha === headSha && run.status === 'completed')) return false;
      const { rows } = await client.query(`select 1 from tasks where phase <> 'finished'`);
      return rows.length === 0;
    },
    {
      limitMs: options.model === null ? 120_000 : 1_800_000,
      everyMs: 100,
      describe: () => describeWorld(world),
      signal: options.signal,
    },
  );
}

function problemsOf({ github, model }: World): string[] {
  const refused = model.journal().flatMap(({ refusal }) => refusal ?? []);
  return [
    ...github.unexpected.map((request) => `GitHub has no such route: ${request}`),
    ...github.violations.map((problem) => `against GitHub's description: ${problem}`),
    ...refused.map((refusal) => `the model refused a request: ${refusal}`),
  ];
}
