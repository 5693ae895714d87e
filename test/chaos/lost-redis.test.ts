import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows, sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';
import { askFix, readFix } from '../support/fixes/read-fix.ts';
import { fixRepository, fixScript } from '../support/fixes/small-fix.ts';
import { startRedis } from '../support/redis.ts';

it('losing all of Redis in mid-run, twice, and then the processes as well, loses nothing', async () => {
  await using redis = await startRedis();
  await using world = await startWorld({
    files: fixRepository,
    env: { REDIS_URL: redis.url },
    operator: { limits: { parallel: 1 } },
  });
  const flush = async () => {
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
  };
  const succeeded = async () => {
    const [row] = await queryRows<{ n: number }>(
      world.databaseDir,
      "select count(*)::int as n from attempts where status = 'succeeded'",
    );
    return row?.n ?? 0;
  };
  // One slot for three rows: what waits is known by its row alone once its wake-up is gone.
  world.model.configure({ ...fixScript('new'), fixMs: 1500 });
  const fix = await askFix(world);
  await until('the first row works', async () => {
    const rows = await queryRows(
      world.databaseDir,
      "select id from attempts where status = 'running' and agent_started_at is not null",
    );
    return rows.length > 0;
  });
  await flush();
  await until('a row is done', async () => (await succeeded()) >= 1);
  await world.apps[0]?.kill();
  await flush();
  await world.start('all', { dataDir: world.dataDir });
  await until(
    'the fix is finished',
    async () =>
      (await queryRows(world.databaseDir, "select id from tasks where phase = 'finished'")).length === 1,
    { limitMs: 240_000 },
  );
  await untilIdle(world);
  const result = await readFix(world, fix);
  expect(result).toMatchObject({
    tasks: 1,
    outcome: 'succeeded',
    branches: 1,
    isCandidate: true,
    reactions: ['eyes'],
    answers: [expect.stringContaining('3 of 3 subtasks merged')],
  });
  expect(result.pulls).toHaveLength(1);
  await until('no sandbox is left', async () => (await sandboxesOf(world.dataDir)).length === 0);
  await assertStrict(world);
});
