import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownPulls, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { goodFixes, row, testedRepository } from '../support/app/tested-repository.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';

const file = `campaigns:
  - name: words
    branch: main
    instruction: Use better words.
`;

let world: World;

beforeAll(async () => {
  world = await startWorld({
    files: { ...testedRepository, '.github/patchfleet.yml': file },
    model: { plans: [{ rows: [row('Greet better', 'src/greet.js')] }], fixes: [goodFixes.greet] },
  });
});
afterAll(() => world.close());

describe('a campaign', () => {
  it('begins with a push to its branch, once', async () => {
    const { github, repository } = world;
    const push = await github.push(repository, { branch: 'main', files: { 'docs/one.md': 'One.\n' } });
    await untilIdle(world);
    await github.redeliver(push.delivery?.id ?? '');
    await github.push(repository, { branch: 'other', files: { 'docs/two.md': 'Two.\n' } });
    await untilIdle(world);
    expect(await tasksOf(world, 'campaign')).toEqual([
      expect.objectContaining({ phase: 'finished', outcome: 'succeeded' }),
    ]);
    const [pull, ...others] = await ownPulls(world);
    expect(others).toEqual([]);
    expect(pull).toMatchObject({ draft: true, baseRef: 'main', title: 'Use better words.' });
    expect(pull?.body).toContain('Asked for by a push');
    await assertStrict(world);
  });

  it('does not begin by the merge of what it made', async () => {
    const { github, repository } = world;
    const [pull] = await ownPulls(world);
    await github.updatePullRequest(repository, pull?.number ?? 0, { draft: false });
    await github.mergePullRequest(repository, pull?.number ?? 0);
    await untilIdle(world);
    expect(await github.fileAt(repository, 'main', 'src/greet.js')).toContain('Good day');
    expect(await tasksOf(world, 'campaign')).toHaveLength(1);
    expect(await ownPulls(world)).toHaveLength(1);
    await assertStrict(world);
  });
});
