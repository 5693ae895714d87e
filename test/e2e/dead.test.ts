import { expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

it('a review that failed for good is tried again by an operator, and its check run concludes anew', async () => {
  await using world = await startWorld({
    files: smallRepository,
    model: { mode: 'bad_key' },
    operator: { limits: { retries: 0 } },
  });
  const { github, repository } = world;
  const dead = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await world.run('dead', ...args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return stdout;
  };
  const { headSha, number } = await github.openPullRequest(repository, {
    branch: 'change',
    files: faultyChange,
  });
  expect(await untilDone(world, headSha)).toMatchObject({ title: 'The review failed: all 1 shard' });
  await untilIdle(world);

  const [, line = ''] = (await dead('list')).split('\n');
  expect(line).toMatch(/ subtask +model_refused +\d+ (?:s|min) +review of tea\/shop#1$/);
  const [id = ''] = line.split(' ');
  const shown = await dead('show', id);
  expect(shown).toMatch(/attempt 1: failed \(model_refused\), .*, worker \S+/);
  expect(shown).toMatch(/agent\.log: artifact [0-9a-f]{64}, \d+ bytes/);
  expect(shown).not.toContain(world.modelKey);

  world.model.configure({});
  await dead('retry', id);
  await until('the check run says what was found', async () => {
    const runs = await github.checkRuns(repository);
    return runs.length === 1 && runs[0]?.conclusion === 'failure' && !runs[0].title?.includes('failed');
  });
  await untilIdle(world);
  expect((await github.reviews(repository, number)).at(-1)?.comments.map(({ path }) => path)).toEqual([
    'src/run.js',
  ]);
  expect(await dead('list')).toBe('nothing failed for good');
  await assertStrict(world, [expect.stringContaining('Incorrect API key')]);
});
