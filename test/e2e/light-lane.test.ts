import { expect, it } from 'vitest';
import { ownComments } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows } from '../support/app/data-directory.ts';
import { harmlessChange, smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { describeWorld } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

const waiting = 2000;
/** What an answer of GitHub takes, milliseconds. */
const slowMs = 150;

it('a question is answered within two seconds while 2,000 pull requests wait and GitHub is slow', async () => {
  await using world = await startWorld({ files: smallRepository, roles: ['serve'] });
  const { github, repository, databaseDir } = world;
  await github.setPermission(repository, 'wilma', 'write');
  const { number } = await github.openPullRequest(repository, { branch: 'change', files: harmlessChange });
  const received = async () => {
    const [row] = await queryRows<{ n: number }>(
      databaseDir,
      "select count(*)::int as n from deliveries where status = 'received'",
    );
    return row?.n ?? 0;
  };
  await until('the pull request is admitted', async () => (await received()) === 0);
  const [opened] = await queryRows<{ body: string }>(
    databaseDir,
    "select body from deliveries where event = 'pull_request'",
  );
  const payload: unknown = JSON.parse(opened?.body ?? '{}');

  github.faults.slow(slowMs);
  for (let sent = 0; sent < waiting; sent += 100)
    await Promise.all(Array.from({ length: 100 }, () => github.webhooks.deliver('pull_request', payload)));
  const before = await received();
  const since = performance.now();
  const { id } = await github.comment(repository, number, { author: 'wilma', body: '/patchfleet status' });
  await until('it is answered', async () => (await ownComments(world, number)).at(-1)?.includes('review'), {
    everyMs: 20,
    describe: () => describeWorld(world),
  });
  const took = performance.now() - since;
  console.info(`answered after ${Math.round(took)} ms; ${before} deliveries waited`);
  expect(before).toBeGreaterThan(waiting / 2);
  expect((await github.reactions(id)).map(({ content }) => content)).toEqual(['eyes']);
  // It did not wait for them.
  expect(await received()).toBeGreaterThan(waiting / 2);
  github.faults.slow(0);
  await assertStrict(world);
});
