import { describeWorld } from '../support/app/until-done.ts';
import type { CheckRun, Review } from '../support/github/state.ts';
import type { Planted, Sample } from '../support/sample/sample.ts';
import { readTimes, type StageTimes, stagesOf } from './measure.ts';
import { readRowStates } from './row-states.ts';
import { mostSandboxes, type Stage, watch } from './stage.ts';

export interface ReviewFacts {
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
}

/** One pull request, from its webhook to its review. */
export async function runReview(stage: Stage, sample: Sample): Promise<ReviewFacts> {
  const { client, world } = stage;
  const { github, repository } = world;
  const started = performance.now();
  const pull = await github.openPullRequest(repository, {
    branch: 'summer',
    title: 'Coupons, sessions and a few helpers',
    body: 'What the summer sale needs.',
    files: sample.head,
  });
  stage.say(
    `Pull request #${pull.number} opened: ${Object.keys(sample.head).length} files changed, webhook answered ${pull.delivery?.status} after ${Math.round(pull.delivery?.durationMs ?? 0)} ms`,
  );
  const completed = async () => {
    const runs = await github.checkRuns(repository);
    return runs.some((run) => run.headSha === pull.headSha && run.status === 'completed');
  };
  await watch(stage, 'review', 'the check run is completed', completed, { together: 4 });
  const wallMs = Math.round(performance.now() - started);
  await github.settled();

  const checkRuns = (await github.checkRuns(repository)).filter((run) => run.headSha === pull.headSha);
  const reviews = await github.reviews(repository, pull.number);
  const [checkRun, posted] = [checkRuns[0], reviews[0]];
  if (checkRun === undefined || posted === undefined)
    throw new Error(`no review was posted\n${await describeWorld(world)}`);
  const { tasks, attempts, findings } = await readTimes(client, 'review');
  const states = await readRowStates(client, 'review');
  const stages = stagesOf(tasks, attempts, []);
  const { rows } = await client.query<{ inBody: number }>(
    `select coalesce(sum((detail->>'inBody')::int), 0)::int as "inBody" from publications where kind = 'review'`,
  );
  return {
    figures: {
      shards: states.length,
      shardsWithFaults: findings,
      maxConcurrent: mostSandboxes(stage, attempts),
      wallMs,
      agentMsSum: Math.round(stages.find(({ stage: name }) => name === 'agent')?.sum ?? 0),
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
  };
}
