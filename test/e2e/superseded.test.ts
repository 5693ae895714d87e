import { describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { sandboxesOf } from '../support/app/data-directory.ts';
import { faultyChange, harmlessChange, smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

describe('a newer push', () => {
  it('supersedes the review of the old head: its agents stop, its check run ends, one review is posted', async () => {
    await using world = await startWorld({ files: smallRepository, model: { mode: 'hang' } });
    const { github, model, repository } = world;
    const old = await github.openPullRequest(repository, { branch: 'change', files: faultyChange });
    // A call hangs by how the model is when it has read it.
    await until('the model is asked', () => model.journal().some(({ mode }) => mode === 'hang'));

    model.configure({});
    const { headSha, number } = await github.pushToPullRequest(repository, old.number, {
      files: harmlessChange,
    });
    expect(await untilDone(world, headSha)).toMatchObject({ conclusion: 'failure' });
    expect(await untilDone(world, old.headSha)).toMatchObject({
      conclusion: 'cancelled',
      title: 'Superseded by a newer commit',
    });
    await untilIdle(world);
    await until('the old agent has stopped', async () => (await sandboxesOf(world.dataDir)).length === 0);

    const reviews = await github.reviews(repository, number);
    expect(reviews.map(({ commitId }) => commitId)).toEqual([headSha]);
    expect(await github.checkRuns(repository)).toHaveLength(2);
    await assertStrict(world);
  });
});
