import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { sandboxesOf } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { type AskedFix, askFix, openLocks, readFix, untilFixed } from '../support/fixes/read-fix.ts';
import { fixRepository, fixScript } from '../support/fixes/small-fix.ts';
import { createRandom } from './storm/random.ts';

/**
 * A fix of four rows, killed (SIGKILL of the whole process) at every write it makes to GitHub, after GitHub applied
 * it and before the answer is read, and at random moments besides; then started again over the same directory.
 */

const randomKills = 6;
const latencyMs = 100;
/** Of the moments of these kills, as parts of what a fix takes. */
const random = createRandom(7);
let world: World;
/** Milliseconds of a fix that nobody disturbs. */
let undisturbed: { ms: number };
/** Writes at which the process was killed, by their routes. */
const killedAt: string[] = [];

/** What a fix writes once. */
const creations = {
  reaction: 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
  comment: 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  blob: 'POST /repos/{owner}/{repo}/git/blobs',
  tree: 'POST /repos/{owner}/{repo}/git/trees',
  commit: 'POST /repos/{owner}/{repo}/git/commits',
  branch: 'POST /repos/{owner}/{repo}/git/refs',
  'pull request': 'POST /repos/{owner}/{repo}/pulls',
} as const;
const update = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';

beforeAll(async () => {
  world = await startWorld({
    files: fixRepository,
    operator: {
      // A lease is short: one who is held up may be taken for dead beside the one that is killed.
      limits: { parallel: 4, deaths: 10 },
      timing: { heartbeat_ms: 300, lease_ms: 3000, reconcile_ms: 300, check_update_ms: 1000 },
      sandbox: { concurrent_starts: 4 },
    },
  });
});
afterAll(() => world.close());

/** A value that was asked for before finds its verifications done already. */
async function ask(value: string): Promise<AskedFix> {
  world.model.configure({ latencyMs, ...fixScript(value, { dot: true }) });
  return askFix(world);
}

async function restart(): Promise<void> {
  await world.start('all', { dataDir: world.dataDir });
}

/** What GitHub shows of the fix once all is over. */
async function resultOf(fix: AskedFix) {
  await untilFixed(world, fix);
  await untilIdle(world);
  const { outcome, tasks, branches, isCandidate, pulls, answers, reactions } = await readFix(world, fix);
  return {
    tasks,
    outcome,
    branches,
    isCandidate,
    pulls: pulls.map(({ draft, state }) => `${draft ? 'draft' : 'no draft'}, ${state}`),
    answers: answers.map((text) => /: (\d of \d subtasks merged)/.exec(text)?.[1] ?? text),
    reactions,
  };
}

const whole = {
  tasks: 1,
  outcome: 'succeeded',
  branches: 1,
  isCandidate: true,
  pulls: ['draft, open'],
  answers: ['4 of 4 subtasks merged'],
  reactions: ['eyes'],
};

/**
 * A fix whose process is killed at the first write for which `isIt` holds (given the routes written to so far, that
 * one last), then started again. False where there was no such write; the result is judged either way.
 */
async function killAt(isIt: (written: readonly string[]) => boolean): Promise<boolean> {
  const written: string[] = [];
  let killed = false;
  const dead = Promise.withResolvers<void>();
  const off = world.github.faults.onWrite(({ route }) => {
    written.push(String(route));
    if (killed || !isIt(written)) return undefined;
    killed = true;
    killedAt.push(String(route));
    void world.apps.at(-1)?.kill().then(dead.resolve);
    return 'drop';
  });
  // The writes are the matter here: what was verified before is not verified again.
  const fix = await ask('new');
  const ended = untilFixed(world, fix);
  ended.catch(() => {}); // judged below, by the result
  await Promise.race([dead.promise, ended]);
  off();
  if (killed) {
    await dead.promise;
    await restart();
  }
  expect({ written, ...(await resultOf(fix)) }).toEqual({ written, ...whole });
  await nothingIsLeft();
  return killed;
}

async function nothingIsLeft(): Promise<void> {
  await until('no container is left', async () => (await sandboxesOf(world.dataDir)).length === 0);
  await until('no workspace is left', async () => (await entriesOf('workspaces')).length === 0);
  await until('no lock is held', async () => (await openLocks(world)) === 0);
  // One that a killed process left stays; git that runs has one for a moment.
  await until('git has left no lock', async () => (await gitLocks())?.length === 0, {
    describe: async () => JSON.stringify(await gitLocks()),
  });
}

/** Lock files in the mirrors; null: something went while they were looked for. */
async function gitLocks(): Promise<string[] | null> {
  const files = await readdir(join(world.dataDir, 'mirrors'), { recursive: true }).catch(() => null);
  // An index of its own has a lock that nobody else ever waits for.
  return files?.filter((path) => path.endsWith('.lock') && !path.includes('/patchfleet-indexes/')) ?? null;
}

function entriesOf(directory: string): Promise<string[]> {
  return readdir(join(world.dataDir, directory)).catch(() => []);
}

describe('a fix', () => {
  it('is one branch, one draft pull request and one comment when nobody disturbs it', async () => {
    const before = world.github.writes().length;
    const started = performance.now();
    const fix = await ask('new');
    expect(await resultOf(fix)).toEqual(whole);
    const ms = performance.now() - started;
    const routes = world.github
      .writes()
      .slice(before)
      .flatMap(({ route }) => route ?? []);
    undisturbed = { ms };
    await nothingIsLeft();
    // Each once; besides them only the comment is brought up to date, as often as time allows.
    expect(routes.filter((route) => route !== update).sort()).toEqual(Object.values(creations).sort());
    expect(routes.at(-1)).toBe(update);
  });

  it.each(Object.entries(creations))(
    'is the same when the process is killed as it writes the %s',
    async (_, route) => {
      expect(await killAt((written) => written.at(-1) === route)).toBe(true);
    },
  );

  it('is the same when the process is killed as it writes its last word', async () => {
    expect(
      await killAt((written) => written.at(-1) === update && written.includes(creations['pull request'])),
    ).toBe(true);
  });

  it('is the same when the process is killed at any one of the updates of its comment', async () => {
    // How many there are is a matter of time, the last word apart; the loop ends with a fix that has fewer.
    let kills = 0;
    for (let nth = 1; ; nth += 1) {
      const killed = await killAt((written) => written.filter((route) => route === update).length === nth);
      if (!killed) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThanOrEqual(1);
  }, 1_800_000);

  it('is the same when the process is killed at random moments', async () => {
    const moments: number[] = [];
    for (let kill = 0; kill < randomKills; kill += 1) {
      const fix = await ask(`new-${kill}`);
      // The moment itself is what is random here: no condition is waited for.
      const ms = Math.round(((kill + random.next()) / randomKills) * undisturbed.ms);
      await delay(ms);
      moments.push(ms);
      await world.apps.at(-1)?.kill();
      await restart();
      expect({ kill, ms, ...(await resultOf(fix)) }).toEqual({ kill, ms, ...whole });
      await nothingIsLeft();
    }
    console.info(
      `killed ${moments.join(', ')} ms after it was asked for; undisturbed it takes ${Math.round(undisturbed.ms)} ms`,
    );
  }, 1_800_000);

  it('leaves neither container nor refused request behind', async () => {
    console.info(`the process was killed at ${killedAt.length} writes:\n  ${killedAt.join('\n  ')}`);
    await assertStrict(world);
  });
});
