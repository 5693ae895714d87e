import { afterAll, beforeAll, expect, it } from 'vitest';
import { timingSchema } from '../../src/config/operator-config.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows, sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { describeWorld, untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { askFix } from '../support/fixes/read-fix.ts';
import { fixRepository, fixScript } from '../support/fixes/small-fix.ts';

/** Work that is stopped while several sandboxes work for it, with the intervals that operators have. */

/** From the delivery of what stops it until no container is left, milliseconds. */
const limitMs = 5000;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: { ...fixRepository, '.github/patchfleet.yml': 'fix:\n  enabled: true\n' },
    operator: { timing: timingSchema.parse({}), limits: { shard_files: 1, shard_complexity: 1 } },
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

/** Milliseconds that pass from then until no container is left. */
async function untilGone(since: number): Promise<number> {
  await until('no sandbox is left', async () => (await sandboxesOf(world.dataDir)).length === 0, {
    everyMs: 20,
    describe: () => describeWorld(world),
  });
  const took = performance.now() - since;
  console.info(`sandboxes were gone ${Math.round(took)} ms after the delivery`);
  return took;
}

const outcomes = (kind: string) =>
  queryRows<{ outcome: string; detail: string | null }>(
    world.databaseDir,
    "select outcome, failure->>'detail' as detail from tasks where kind = $1 order by created_at desc limit 1",
    [kind],
  );

async function runningFix() {
  world.model.configure({ ...fixScript('new'), fixMs: 120_000 });
  const fix = await askFix(world);
  await running(3);
  return fix;
}

it('a fix is cancelled by a comment', async () => {
  const fix = await runningFix();
  const since = performance.now();
  await world.github.comment(world.repository, fix.number, { author: 'wilma', body: '/patchfleet cancel' });
  expect(await untilGone(since)).toBeLessThan(limitMs);
  await untilIdle(world);
  expect(await outcomes('fix')).toMatchObject([{ outcome: 'cancelled' }]);
});

it('a fix is cancelled by the closing of its issue', async () => {
  const fix = await runningFix();
  const since = performance.now();
  await world.github.closeIssue(world.repository, fix.number, { sender: 'wilma' });
  expect(await untilGone(since)).toBeLessThan(limitMs);
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
  const ofOld = (id: string) => old.some(({ container }) => container === id);
  await until(
    'no sandbox of the old head is left',
    async () => !(await sandboxesOf(world.dataDir)).some(({ Id }) => ofOld(Id)),
    { everyMs: 20 },
  );
  expect(performance.now() - since).toBeLessThan(limitMs);
  expect(await untilDone(world, headSha)).toMatchObject({ conclusion: 'cancelled' });

  await running(3);
  since = performance.now();
  await github.closePullRequest(repository, number);
  expect(await untilGone(since)).toBeLessThan(limitMs);
  expect(await untilDone(world, pushed.headSha)).toMatchObject({
    conclusion: 'cancelled',
    title: 'The review was cancelled',
  });
  await untilIdle(world);
  await assertStrict(world);
});
