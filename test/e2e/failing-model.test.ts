import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import type { Behaviour } from '../support/model/behaviour.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({
    files: smallRepository,
    operator: {
      limits: { parallel: 4, retries: 0, model_call_seconds: 2, attempt_seconds: 30, idle_seconds: 20 },
    },
  });
});
afterAll(() => world.close());

let branches = 0;

/** Reviews one more pull request while the model behaves like that. */
async function reviewWith(behaviour: Partial<Behaviour>, files: Record<string, string>) {
  world.model.configure(behaviour);
  branches += 1;
  const pull = await world.github.openPullRequest(world.repository, { branch: `change-${branches}`, files });
  const run = await untilDone(world, pull.headSha);
  await untilIdle(world);
  return { run, reviews: await world.github.reviews(world.repository, pull.number) };
}

describe('a model that fails', () => {
  it.each([
    ['answers 500 to everything', 'error500', 'model_unavailable'],
    ['hangs', 'hang', 'model_timeout'],
    ['answers without tool calls', 'nonsense_text', 'model_nonsense'],
    ['answers with a web page', 'nonsense_html', 'model_'],
    ['changes from one nonsense to the next', 'nonsense', 'model_'],
    ['does not know the key', 'bad_key', 'model_refused'],
    ['has no quota left', 'quota', 'model_refused'],
  ] as const)('and %s makes the check run fail and say why', async (_, mode, code) => {
    const { run, reviews } = await reviewWith({ mode }, faultyChange as Record<string, string>);
    expect(['failure', 'action_required']).toContain(run.conclusion);
    expect(run.title).toBe('The review failed: all 1 shard');
    expect(run.summary).toMatch(
      /\*\*1 shard failed\*\*.*\n\n- (?:src|top level|.+) \(\d files?\) \(reviewer\): /,
    );
    expect(run.summary).toContain(`(\`${code}`);
    expect(run.summary).not.toContain(world.modelKey);
    for (const review of reviews) expect(review.body).not.toMatch(/no findings|all is well|looks good/i);
    expect(reviews.filter((review) => review.state === 'APPROVED')).toEqual([]);
    await assertStrictButRefusals();
  });

  it('for one shard of two fails the check run, names that shard, and posts what the other found', async () => {
    const files = Object.fromEntries(
      ['north', 'south'].flatMap((name) => [
        [`packages/${name}/package.json`, `{ "name": "${name}" }\n`],
        [
          `packages/${name}/run.js`,
          `export const ${name} = (text) => eval(text);\n${'export {};\n'.repeat(60)}`,
        ],
      ]),
    );
    const { run, reviews } = await reviewWith({ mode: 'error500', only: 'packages/south/run.js' }, files);
    expect(run.conclusion).toBe('failure');
    expect(run.title).toBe('1 of 2 shards failed');
    expect(run.summary).toMatch(/- packages\/south \(2 files\) \(reviewer\): .*`model_unavailable`/);
    expect(run.text).toContain('packages/south/run.js');
    expect(reviews.map(({ comments }) => comments.map(({ path, line }) => [path, line]))).toEqual([
      [['packages/north/run.js', 1]],
    ]);
    expect(reviews[0]?.body).toContain('packages/south');
    await assertStrictButRefusals();
  });
});

/** A key that is refused on purpose is no fault of ours. */
async function assertStrictButRefusals() {
  world.model.clearJournal();
  await assertStrict(world);
}
