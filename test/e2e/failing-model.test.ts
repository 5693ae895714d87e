import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import type { Behaviour, Mode } from '../support/model/behaviour.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ files: smallRepository, operator: { limits: { retries: 0 } } });
});
afterAll(() => world.close());

let branches = 0;

/** Reviews one more pull request while the model behaves like that. */
async function reviewWith(at: World, behaviour: Partial<Behaviour>, files: Record<string, string>) {
  at.model.configure(behaviour);
  branches += 1;
  const pull = await at.github.openPullRequest(at.repository, { branch: `change-${branches}`, files });
  const run = await untilDone(at, pull.headSha);
  await untilIdle(at);
  return { run, reviews: await at.github.reviews(at.repository, pull.number) };
}

/** The check run fails and says why, and nobody could take the review for one without findings. */
async function failsAndSaysWhy(at: World, mode: Mode, code: string) {
  const { run, reviews } = await reviewWith(at, { mode }, faultyChange as Record<string, string>);
  expect(['failure', 'action_required']).toContain(run.conclusion);
  expect(run.title).toBe('The review failed: all 1 shard');
  expect(run.summary).toMatch(
    /\*\*1 shard failed\*\*.*\n\n- (?:src|top level|.+) \(\d files?\) \(reviewer\): /,
  );
  expect(run.summary).toContain(`(\`${code}`);
  expect(run.summary).not.toContain(at.modelKey);
  for (const review of reviews) expect(review.body).not.toMatch(/no findings|all is well|looks good/i);
  expect(reviews.filter((review) => review.state === 'APPROVED')).toEqual([]);
  await assertStrictButRefusals(at);
}

describe('a model that fails', () => {
  it.each([
    ['answers 500 to everything', 'error500', 'model_unavailable'],
    ['answers without tool calls', 'nonsense_text', 'model_nonsense'],
    ['answers with a web page', 'nonsense_html', 'model_'],
    ['changes from one nonsense to the next', 'nonsense', 'model_'],
    ['does not know the key', 'bad_key', 'model_refused'],
    ['has no quota left', 'quota', 'model_refused'],
  ] as const)('and %s makes the check run fail and say why', async (_, mode, code) => {
    await failsAndSaysWhy(world, mode, code);
  });

  it('and hangs makes the check run fail and say why', async () => {
    // Where only that model is asked: one that answers may take longer.
    const limits = { retries: 0, model_call_seconds: 2 };
    await using hanging = await startWorld({ files: smallRepository, operator: { limits } });
    await failsAndSaysWhy(hanging, 'hang', 'model_timeout');
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
    const failing = { mode: 'error500', only: 'packages/south/run.js' } as const;
    const { run, reviews } = await reviewWith(world, failing, files);
    expect(run.conclusion).toBe('failure');
    expect(run.title).toBe('1 of 2 shards failed');
    expect(run.summary).toMatch(/- packages\/south \(2 files\) \(reviewer\): .*`model_unavailable`/);
    expect(run.text).toContain('packages/south/run.js');
    expect(reviews.map(({ comments }) => comments.map(({ path, line }) => [path, line]))).toEqual([
      [['packages/north/run.js', 1]],
    ]);
    expect(reviews[0]?.body).toContain('packages/south');
    await assertStrictButRefusals(world);
  });
});

/** A key that is refused on purpose is no fault of ours. */
async function assertStrictButRefusals(at: World) {
  at.model.clearJournal();
  await assertStrict(at);
}
