import { expect, it } from 'vitest';
import { ask, leftOutOf, ownPulls, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows } from '../support/app/data-directory.ts';
import { badFixes, goodFixes, row, testedRepository } from '../support/app/tested-repository.ts';
import { startWorld } from '../support/app/world.ts';
import { startRedis } from '../support/redis.ts';

it('a fix is the same through Redis and a Postgres that all replicas share', async () => {
  await using redis = await startRedis();
  await using world = await startWorld({
    files: testedRepository,
    sharedDatabase: true,
    roles: ['serve', 'work', 'work'],
    env: { REDIS_URL: redis.url },
    // One at a time each, so that both have something to do.
    operator: { limits: { parallel: 1 } },
    model: {
      plans: [
        {
          rows: [
            row('Sum better', 'src/add.js'),
            row('Greet better', 'src/greet.js'),
            row('Say farewell', 'src/farewell.js'),
          ],
        },
      ],
      fixes: [
        badFixes.add,
        goodFixes.greet,
        { path: 'src/farewell.js', content: "export const farewell = 'Good bye';\n" },
      ],
    },
  });
  const { github, repository } = world;
  await github.setPermission(repository, 'wilma', 'write');
  const issue = await github.openIssue(repository, { title: 'Words', body: 'Better ones.', author: 'otto' });
  const asked = await ask(world, issue.number, '/patchfleet fix the words');
  expect(asked.answers).toHaveLength(1);
  expect(asked.answers[0]).toContain('2 of 3 subtasks merged.');
  expect(await leftOutOf(world)).toEqual([
    { title: 'Sum better', code: 'verification', reason: expect.stringContaining('add adds') },
  ]);
  const [task] = await tasksOf(world, 'fix');
  const pulls = await ownPulls(world);
  expect(pulls.map(({ headRef, draft }) => ({ headRef, draft }))).toEqual([
    { headRef: `patchfleet/${task?.id}`, draft: true },
  ]);
  const [candidate] = await queryRows<{ tree: string }>(
    world.databaseDir,
    `select candidate->>'tree' as tree from candidates`,
  );
  expect((await github.commitAt(repository, pulls[0]?.headRef ?? ''))?.tree).toBe(candidate?.tree);
  await assertStrict(world);
});
