import { describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

describe('a broken .github/patchfleet.yml', () => {
  it('gives a check run that names every key, its line and the remedy, and no review', async () => {
    const broken = 'review:\n  drafts: maybe\n  fail_onn: error\ncommands: []\n';
    await using world = await startWorld({
      files: { ...smallRepository, '.github/patchfleet.yml': broken },
    });
    const { github, repository } = world;
    const pull = await github.openPullRequest(repository, { branch: 'change', files: faultyChange });
    const run = await untilDone(world, pull.headSha);
    await untilIdle(world);

    expect(run).toMatchObject({ conclusion: 'action_required', title: 'The configuration is not valid' });
    expect(run.summary).toMatch(/review\.drafts/);
    expect(run.summary).toMatch(/line 2\b|:2\b/);
    expect(run.summary).toMatch(/fail\\?_onn/);
    expect(run.summary).toMatch(/line 3\b|:3\b/);
    expect(run.summary).toMatch(/fail\\?_on\b/);
    expect(await github.reviews(repository, pull.number)).toEqual([]);
    expect(world.model.journal()).toEqual([]);
    await assertStrict(world);
  });

  it('on the head alone changes nothing: the file of the base branch counts', async () => {
    await using world = await startWorld({ files: smallRepository });
    const { github, repository } = world;
    const files = { ...faultyChange, '.github/patchfleet.yml': 'review:\n  enabled: false\n  nonsense: 1\n' };
    const pull = await github.openPullRequest(repository, { branch: 'change', files });
    expect(await untilDone(world, pull.headSha)).toMatchObject({ conclusion: 'failure' });
    await untilIdle(world);
    await assertStrict(world);
  });
});
