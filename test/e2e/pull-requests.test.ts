import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { faultyChange, harmlessChange, smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';

let world: World;

beforeAll(async () => {
  const ignoring = { ...smallRepository, '.github/patchfleet.yml': 'review:\n  ignore: ["docs/**"]\n' };
  world = await startWorld({ files: ignoring });
});
afterAll(() => world.close());

const reviewsOf = (pull: number) => world.github.reviews(world.repository, pull);

describe('a pull request', () => {
  it('without a fault passes, and no review is posted', async () => {
    const pull = await world.github.openPullRequest(world.repository, {
      branch: 'fine',
      files: harmlessChange,
    });
    expect(await untilDone(world, pull.headSha)).toMatchObject({
      conclusion: 'success',
      title: 'No findings',
    });
    await untilIdle(world);
    expect(await reviewsOf(pull.number)).toEqual([]);
    await assertStrict(world);
  });

  it('of which nothing can be reviewed passes and says so', async () => {
    const files = { 'docs/page.md': 'text\n', 'picture.bin': Buffer.from([0, 1, 2]) };
    const pull = await world.github.openPullRequest(world.repository, { branch: 'docs', files });
    const run = await untilDone(world, pull.headSha);
    expect(run).toMatchObject({ conclusion: 'success', title: 'Nothing to review: all files were skipped' });
    expect(run.summary).toContain('2 files changed, 0 reviewed, 2 skipped');
    await assertStrict(world);
  });

  it('from a fork is reviewed with what the base repository gives', async () => {
    const fork = { branch: 'from-fork', fork: 'friend', files: faultyChange };
    const pull = await world.github.openPullRequest(world.repository, fork);
    expect(await untilDone(world, pull.headSha)).toMatchObject({ conclusion: 'failure' });
    await untilIdle(world);
    expect((await reviewsOf(pull.number)).map(({ comments }) => comments.length)).toEqual([1]);
    await assertStrict(world);
  });

  it('that is a draft is reviewed once it is ready', async () => {
    const draft = { branch: 'draft', draft: true, files: faultyChange };
    const pull = await world.github.openPullRequest(world.repository, draft);
    await untilIdle(world);
    const runs = await world.github.checkRuns(world.repository);
    expect(runs.filter(({ headSha }) => headSha === pull.headSha)).toEqual([]);
    await world.github.updatePullRequest(world.repository, pull.number, { draft: false }, 'ready_for_review');
    expect(await untilDone(world, pull.headSha)).toMatchObject({ conclusion: 'failure' });
    await untilIdle(world);
    expect(await reviewsOf(pull.number)).toHaveLength(1);
    await assertStrict(world);
  });

  it('shares the check run with another one of the same head; each has its section', async () => {
    const { github, repository } = world;
    await github.commit(repository, { branch: 'other-base', files: { 'src/more.js': 'export {};\n' } });
    const one = await github.openPullRequest(repository, { branch: 'shared', files: faultyChange });
    await untilDone(world, one.headSha);
    await untilIdle(world);
    const two = await github.openPullRequest(repository, { branch: 'shared', base: 'other-base' });
    expect(two.headSha).toBe(one.headSha);
    await untilIdle(world);
    const runs = (await github.checkRuns(repository)).filter(({ headSha }) => headSha === one.headSha);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ status: 'completed', conclusion: 'failure' });
    expect(runs[0]?.summary).toContain(`## Pull request #${one.number}`);
    expect(runs[0]?.summary).toContain(`## Pull request #${two.number}`);
    expect([await reviewsOf(one.number), await reviewsOf(two.number)].map(({ length }) => length)).toEqual([
      1, 1,
    ]);
    await assertStrict(world);
  });

  it('is reviewed although every token was revoked meanwhile', async () => {
    await world.github.revokeTokens();
    const pull = await world.github.openPullRequest(world.repository, {
      branch: 'later',
      files: faultyChange,
    });
    expect(await untilDone(world, pull.headSha)).toMatchObject({ conclusion: 'failure' });
    await untilIdle(world);
    expect(await reviewsOf(pull.number)).toHaveLength(1);
    await assertStrict(world);
  });
});
