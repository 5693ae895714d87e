import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { readSample } from '../support/sample/sample.ts';
import { createRandom } from './storm/random.ts';

/**
 * The review of the demo, killed (SIGKILL of the whole process) at every write it makes to GitHub, after GitHub
 * applied it and before the answer is read, and at random moments besides; then started again.
 */

const sample = readSample();
const randomKills = 6;
/** Of the moments of these kills, as parts of what a review takes. */
const random = createRandom(7);
let world: World;
/** Writes and milliseconds of a review that nobody disturbs. */
let undisturbed: { writes: number; ms: number };

beforeAll(async () => {
  world = await startWorld({
    files: sample.base,
    operator: {
      // A lease is short: one who is held up may be taken for dead beside the one that is killed.
      limits: { parallel: 8, shard_complexity: 60, deaths: 10 },
      timing: { heartbeat_ms: 300, lease_ms: 2000, reconcile_ms: 300, check_update_ms: 1000 },
      sandbox: { concurrent_starts: 4 },
    },
    model: { latencyMs: 100 },
  });
});
afterAll(() => world.close());

let opened = 0;
/** Opens the demo's pull request under a new branch, while the app runs. */
async function openPull() {
  opened += 1;
  const branch = `summer-${opened}`;
  // The branch is named in a file, so that every pull request has a head of its own.
  const files = { ...sample.head, 'BRANCH.md': `${branch}\n` };
  return world.github.openPullRequest(world.repository, { branch, title: 'Summer', body: '', files });
}

async function restart(): Promise<void> {
  await world.start('all', { dataDir: world.dataDir });
}

/** What GitHub shows of the pull request once all is over. */
async function resultOf(pull: { number: number; headSha: string }) {
  const { github, repository } = world;
  await untilDone(world, pull.headSha);
  await untilIdle(world);
  const runs = (await github.checkRuns(repository)).filter((run) => run.headSha === pull.headSha);
  const reviews = await github.reviews(repository, pull.number);
  const annotations = runs[0]?.annotations ?? [];
  return {
    checkRuns: runs.map(({ status, conclusion }) => `${status} ${conclusion}`),
    reviews: reviews.length,
    inline: reviews[0]?.comments.length,
    annotations: annotations.length,
    annotationsOnce: new Set(annotations.map((item) => JSON.stringify(item))).size,
  };
}

const whole = {
  checkRuns: ['completed failure'],
  reviews: 1,
  inline: sample.planted.length,
  annotations: sample.planted.length,
  annotationsOnce: sample.planted.length,
};

async function noSandboxLeft(): Promise<void> {
  await until('no container is left', async () => (await sandboxesOf(world.dataDir)).length === 0);
}

describe('a review', () => {
  it('is one check run and one review when nobody disturbs it', async () => {
    const before = world.github.writes().length;
    const started = performance.now();
    expect(await resultOf(await openPull())).toEqual(whole);
    undisturbed = { writes: world.github.writes().length - before, ms: performance.now() - started };
    // Check run, review, conclusion; how often progress is told of besides is a matter of time.
    expect(undisturbed.writes).toBeGreaterThanOrEqual(3);
  });

  it('is the same when the process is killed at any one of its writes', async () => {
    // A restarted review writes about as often; the loop ends once a write number is past them all.
    let killed = true;
    let kills = 0;
    for (let write = 1; killed; write += 1) {
      killed = false;
      let count = 0;
      const dead = Promise.withResolvers<void>();
      const off = world.github.faults.onWrite(() => {
        count += 1;
        if (count !== write || killed) return undefined;
        killed = true;
        const app = world.apps.at(-1);
        void app?.kill().then(dead.resolve);
        return 'drop';
      });
      const pull = await openPull();
      const ended = untilDone(world, pull.headSha);
      ended.catch(() => {}); // judged below, by the result
      await Promise.race([dead.promise, ended]);
      off();
      if (killed) {
        kills += 1;
        await dead.promise;
        await restart();
      }
      expect({ write, ...(await resultOf(pull)) }).toEqual({ write, ...whole });
      await noSandboxLeft();
    }
    console.info(`the process was killed at ${kills} writes, one after the other`);
    expect(kills).toBeGreaterThanOrEqual(3);
  }, 1_800_000);

  it('is the same when the process is killed at random moments', async () => {
    for (let kill = 0; kill < randomKills; kill += 1) {
      const pull = await openPull();
      // The moment itself is what is random here: no condition is waited for.
      const ms = Math.round(((kill + random.next()) / randomKills) * undisturbed.ms);
      await delay(ms);
      await world.apps.at(-1)?.kill();
      await restart();
      expect({ kill, ms, ...(await resultOf(pull)) }).toEqual({ kill, ms, ...whole });
      await noSandboxLeft();
    }
  }, 1_800_000);

  it('leaves neither container nor refused request behind', async () => {
    await assertStrict(world);
  });
});
