import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { sandboxesOf } from '../support/app/data-directory.ts';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ files: smallRepository });
  await world.github.setPermission(world.repository, 'wilma', 'write');
  await world.github.setPermission(world.repository, 'rita', 'read');
});
afterAll(() => world.close());

let branches = 0;
async function openPull() {
  branches += 1;
  const { github, repository } = world;
  return github.openPullRequest(repository, {
    branch: `change-${branches}`,
    files: faultyChange,
    draft: branches === 1,
  });
}

/** Writes a comment and waits until it is dealt with; what our app answered to it. */
async function command(pull: number, author: string, body: string) {
  const { github, repository } = world;
  const before = (await github.comments(repository, pull)).length;
  const { id } = await github.comment(repository, pull, { author, body });
  await untilIdle(world);
  const after = (await github.comments(repository, pull)).slice(before + 1);
  return {
    reactions: (await github.reactions(id)).map(({ content }) => content),
    answers: after.map((comment) => comment.body),
  };
}

describe('commands in comments', () => {
  it('by a writer are answered in one comment each', async () => {
    const pull = await openPull();
    const help = await command(pull.number, 'wilma', '/patchfleet help');
    expect(help.reactions).toEqual(['eyes']);
    expect(help.answers).toHaveLength(1);
    expect(help.answers[0]).toContain('/patchfleet cancel');

    const none = await command(pull.number, 'wilma', '@patchfleet status');
    expect(none.answers).toHaveLength(1);
    expect(none.answers[0]).toContain('Nothing was asked for here yet');

    const unknown = await command(pull.number, 'wilma', '/patchfleet reveiw');
    expect(unknown.answers[0]).toContain('/patchfleet review');
    expect(await world.github.checkRuns(world.repository)).toEqual([]);
    await assertStrict(world);
  });

  it('review asks for a review, of a draft too', async () => {
    const review = await command(1, 'wilma', 'Please look at this.\n\n/patchfleet review');
    expect(review.reactions).toEqual(['eyes']);
    expect(review.answers).toHaveLength(1);
    const [run] = await world.github.checkRuns(world.repository);
    expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' });
    expect(await world.github.reviews(world.repository, 1)).toHaveLength(1);

    const status = await command(1, 'wilma', '/patchfleet status');
    expect(status.answers[0]).toContain(
      `\`${run?.headSha.slice(0, 12)}\` | succeeded | 1 | review by \`wilma\``,
    );
    await assertStrict(world);
  });

  it('review again repeats no finding and makes no second check run', async () => {
    await command(1, 'wilma', '/patchfleet review');
    const comments = (await world.github.reviews(world.repository, 1)).flatMap((review) => review.comments);
    expect(comments).toHaveLength(1);
    expect(await world.github.checkRuns(world.repository)).toHaveLength(1);
    await assertStrict(world);
  });

  it.each(['rita', 'stranger'])(
    'by %s, who may not write, are refused with a reaction alone',
    async (author) => {
      const writes = world.github.writes().length;
      const refused = await command(1, author, '/patchfleet review');
      expect(refused).toEqual({ reactions: ['confused'], answers: [] });
      expect(world.github.writes().length).toBe(writes + 1);
      await assertStrict(world);
    },
  );

  it('by another app are ignored, whatever it may do', async () => {
    const { github, repository } = world;
    await github.addUser('helper[bot]', 'Bot');
    await github.setPermission(repository, 'helper[bot]', 'write');
    const writes = github.writes().length;
    expect(await command(1, 'helper[bot]', '/patchfleet review')).toEqual({ reactions: [], answers: [] });
    expect(github.writes().length).toBe(writes);
  });

  it.each([
    '`/patchfleet review`',
    '```\n/patchfleet review\n```',
    '> /patchfleet review',
    '<!-- /patchfleet review -->',
    'mail me@patchfleet review',
  ])('are none in %j', async (body) => {
    const writes = world.github.writes().length;
    expect(await command(1, 'wilma', body)).toEqual({ reactions: [], answers: [] });
    expect(world.github.writes().length).toBe(writes);
  });

  it('cancel stops what runs; its check run says so', async () => {
    world.model.configure({ mode: 'hang' });
    world.model.clearJournal();
    const pull = await openPull();
    await until('the model is asked', () => world.model.journal().some(({ mode }) => mode === 'hang'));
    const cancelled = await command(pull.number, 'wilma', '/patchfleet cancel');
    world.model.configure({});
    expect(cancelled.answers[0]).toContain(`Cancelled the review of \`${pull.headSha.slice(0, 12)}\``);
    const run = await untilDone(world, pull.headSha);
    expect(run).toMatchObject({ conclusion: 'cancelled', title: 'The review was cancelled' });
    expect(await world.github.reviews(world.repository, pull.number)).toEqual([]);
    await until('the agent has stopped', () =>
      world.model.journal().every(({ endedAt }) => endedAt !== null),
    );
    await untilNoSandbox();
    await assertStrict(world);
  });
});

async function untilNoSandbox() {
  await until('the sandbox is gone', async () => (await sandboxesOf(world.dataDir)).length === 0);
}
