import { afterAll, beforeAll, expect, it } from 'vitest';
import { timingSchema } from '../../src/config/operator-config.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows, sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { describeWorld, untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { askFix } from '../support/fixes/read-fix.ts';
import { fixRepository, fixScript } from '../support/fixes/small-fix.ts';

/**
 * Work that is stopped while several sandboxes work for it. No sign of life of an attempt, no lease and no reaper comes
 * within an hour, and what runs goes on for minutes: sandboxes go because the worker looks whether its claims are gone,
 * which it does once a second. How long it took is printed; on a machine that is not busy it is below 5 s.
 */

const hourMs = 3_600_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: { ...fixRepository, '.github/patchfleet.yml': 'fix:\n  enabled: true\n' },
    operator: {
      timing: { ...timingSchema.parse({}), heartbeat_ms: hourMs, lease_ms: 2 * hourMs },
      limits: { shard_files: 1, shard_complexity: 1, idle_seconds: 900 },
    },
  });
});
afterAll(() => world.close());

const running = (count: number) =>
  until(
    `${count} agents work in their sandboxes`,
    async () => {
      const rows = await queryRows(
        world.databaseDir,
        "select id from attempts where status = 'running' and agent_started_at is not null",
      );
      return rows.length >= count;
    },
    { describe: () => describeWorld(world) },
  );

/** Until no container is left, or none of these; `since`: when what stops the work was delivered. */
async function untilGone(since: number, these?: ReadonlySet<string>): Promise<void> {
  const left = async () =>
    (await sandboxesOf(world.dataDir)).filter(({ Id }) => these === undefined || these.has(Id));
  await until('no sandbox is left', async () => (await left()).length === 0, {
    everyMs: 20,
    describe: () => describeWorld(world),
  });
  const took = performance.now() - since;
  console.info(`sandboxes were gone ${Math.round(took)} ms after the delivery`);
}

const outcomes = (kind: string) =>
  queryRows<{ outcome: string; detail: string | null }>(
    world.databaseDir,
    "select outcome, failure->>'detail' as detail from tasks where kind = $1 order by created_at desc limit 1",
    [kind],
  );

async function runningFix() {
  world.model.configure({ ...fixScript('new'), fixMs: 600_000 });
  const fix = await askFix(world);
  await running(3);
  return fix;
}

it('a fix is cancelled by a comment', async () => {
  const fix = await runningFix();
  const since = performance.now();
  await world.github.comment(world.repository, fix.number, { author: 'wilma', body: '/patchfleet cancel' });
  await untilGone(since);
  await untilIdle(world);
  expect(await outcomes('fix')).toMatchObject([{ outcome: 'cancelled' }]);
});

it('a fix is cancelled by the closing of its issue', async () => {
  const fix = await runningFix();
  const since = performance.now();
  await world.github.closeIssue(world.repository, fix.number, { sender: 'wilma' });
  await untilGone(since);
  await untilIdle(world);
  expect(await outcomes('fix')).toEqual([{ outcome: 'cancelled', detail: 'wilma closed the issue' }]);
});

it('a review is superseded by a newer push, and cancelled by the closing of its pull request', async () => {
  const { github, repository } = world;
  world.model.configure({ mode: 'hang' });
  const files = Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [`src/${name}.js`, `export const ${name} = 1;\n`]),
  );
  const { number, headSha } = await github.openPullRequest(repository, { branch: 'change', files });
  await running(3);

  let since = performance.now();
  const pushed = await github.pushToPullRequest(repository, number, {
    files: { ...files, 'src/a.js': 'export const a = 2;\n' },
  });
  const old = await queryRows<{ container: string }>(
    world.databaseDir,
    `select a.container_id as container from attempts a join tasks t on t.id = a.task_id
      where t.head_sha = $1 and a.container_id is not null`,
    [headSha],
  );
  expect(old.length).toBeGreaterThanOrEqual(3);
  await untilGone(since, new Set(old.map(({ container }) => container)));
  expect(await untilDone(world, headSha)).toMatchObject({ conclusion: 'cancelled' });

  await running(3);
  since = performance.now();
  await github.closePullRequest(repository, number);
  await untilGone(since);
  expect(await untilDone(world, pushed.headSha)).toMatchObject({
    conclusion: 'cancelled',
    title: 'The review was cancelled',
  });
  await untilIdle(world);
  await assertStrict(world);
});
