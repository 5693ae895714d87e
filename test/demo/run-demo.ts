import { connectTo, sandboxesOf } from '../support/app/data-directory.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { readSample } from '../support/sample/sample.ts';
import type { LiveLines } from './live-lines.ts';
import { script } from './planned-fix.ts';
import { type BatchFacts, runBatch } from './run-batch.ts';
import { type FixFacts, runFix } from './run-fix.ts';
import { type ReviewFacts, runReview } from './run-review.ts';
import type { RealModel } from './stage.ts';

/** Milliseconds a call of the scripted model takes: about what makes overlapping calls visible, and no more. */
const modelLatencyMs = 500;

export interface DemoOptions {
  /** Null: the scripted model. */
  readonly model: RealModel | null;
  readonly newLines: () => LiveLines;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface DemoFacts {
  readonly scripted: boolean;
  readonly review: ReviewFacts;
  readonly fix: FixFacts;
  readonly batch: BatchFacts;
  /** What the doubles saw that should not be. */
  readonly problems: readonly string[];
  readonly sandboxesLeft: number;
  /** Of the app, once told to stop. */
  readonly exitCode: number | string;
}

/** A review, a fix and a batch, each from its webhook to its end, on real parts; leaves nothing behind in any case. */
export async function runDemo(options: DemoOptions): Promise<DemoFacts> {
  const { say, signal, model } = options;
  const sample = readSample();
  say(`Repository: ${Object.keys(sample.base).length} files; starting Patchfleet as one process ...`);
  const world = await startWorld({
    files: sample.base,
    // Small shards: the sample is small too, and this shows how they run beside each other.
    operator: {
      limits: { parallel: 8, shard_complexity: 60, conflict_reruns: 0, split_depth: 0 },
      sandbox: { concurrent_starts: 4 },
    },
    model: { ...script, latencyMs: modelLatencyMs },
    env: { ...model },
  });
  try {
    signal.throwIfAborted();
    await world.github.setPermission(world.repository, 'wilma', 'maintain');
    const client = await connectTo(world.dataDir);
    const parts = await (async () => {
      try {
        const stage = { ...options, world, client };
        const review = await runReview(stage, sample);
        const fix = await runFix(stage, sample);
        return { review, fix, batch: await runBatch(stage) };
      } finally {
        await client.end();
      }
    })();
    const problems = problemsOf(world);
    const exitCodes = await Promise.all(world.apps.map((app) => app.stop()));
    const sandboxesLeft = (await sandboxesOf(world.dataDir)).length;
    const exitCode = exitCodes.find((code) => code !== 0) ?? 0;
    return { scripted: model === null, ...parts, problems, sandboxesLeft, exitCode };
  } finally {
    await world.close();
  }
}

function problemsOf({ github, model }: World): string[] {
  const refused = model.journal().flatMap(({ refusal }) => refusal ?? []);
  return [
    ...github.unexpected.map((request) => `GitHub has no such route: ${request}`),
    ...github.violations.map((problem) => `against GitHub's description: ${problem}`),
    ...refused.map((refusal) => `the model refused a request: ${refusal}`),
  ];
}
