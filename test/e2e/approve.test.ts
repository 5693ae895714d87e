import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, ownComments, ownPulls, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { goodFixes, row, testedRepository } from '../support/app/tested-repository.ts';
import { startWorld, type World } from '../support/app/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({
    files: testedRepository,
    model: { plans: [{ rows: [row('Sum better', 'src/add.js')] }], fixes: [goodFixes.add] },
  });
  await world.github.setPermission(world.repository, 'wilma', 'write');
});
afterAll(() => world.close());

const files = { 'src/more.js': 'export const more = 1;\n' };

describe('a fix that a stranger asks for', () => {
  it('waits on their own pull request until a maintainer approves it', async () => {
    const { github, repository, model } = world;
    const fork = { branch: 'theirs', fork: 'friend', files, draft: true };
    const pull = await github.openPullRequest(repository, fork);
    const asked = await ask(world, pull.number, '/patchfleet fix sum better', { author: 'friend' });
    expect(asked.reactions).toEqual(['eyes']);
    expect(asked.answers).toEqual([expect.stringContaining('waits for a maintainer')]);
    expect(await tasksOf(world, 'fix')).toEqual([expect.objectContaining({ phase: 'held' })]);
    expect(model.journal()).toEqual([]);

    const own = await ask(world, pull.number, '/patchfleet approve', { author: 'friend' });
    expect(own).toEqual({ reactions: ['confused'], answers: [] });
    expect(model.journal()).toEqual([]);

    const approved = await ask(world, pull.number, '/patchfleet approve');
    expect(approved.answers.join('\n')).toContain('Approved the fix of `friend`');
    expect(approved.answers.join('\n')).toContain('diff --git a/src/add.js b/src/add.js');
    expect(await tasksOf(world, 'fix')).toEqual([
      expect.objectContaining({ phase: 'finished', outcome: 'succeeded' }),
    ]);
    expect(await ownPulls(world)).toEqual([]);
    await assertStrict(world);
  });

  it('is refused where it is not theirs', async () => {
    const { github, repository } = world;
    const issue = await github.openIssue(repository, { title: 'Sum', body: 'Better.', author: 'otto' });
    const asked = await ask(world, issue.number, '/patchfleet fix', { author: 'friend' });
    expect(asked).toEqual({ reactions: ['confused'], answers: [] });
    expect(await tasksOf(world, 'fix')).toHaveLength(1);
    expect(await ownComments(world, issue.number)).toEqual([]);
    await assertStrict(world);
  });
});
