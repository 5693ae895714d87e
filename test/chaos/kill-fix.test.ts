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

/**
 * A fix of four rows, killed (SIGKILL of the whole process) at every write it makes to GitHub, after GitHub applied
 * it and before the answer is read, and at random moments besides; then started again over the same directory.
 */

const randomKills = 10;
const latencyMs = 100;
let world: World;
/** Routes written to and milliseconds of a fix that nobody disturbs. */
let undisturbed: { routes: string[]; ms: number };

beforeAll(async () => {
  world = await startWorld({
    files: fixRepository,
    operator: {
      limits: { parallel: 4 },
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

async function nothingIsLeft(): Promise<void> {
  await until('no container is left', async () => (await sandboxesOf(world.dataDir)).length === 0);
  await until('no workspace is left', async () => (await entriesOf('workspaces')).length === 0);
  await until('no lock is held', async () => (await openLocks(world)) === 0);
  const files = await readdir(join(world.dataDir, 'mirrors'), { recursive: true });
  expect(files.filter((path) => path.endsWith('.lock'))).toEqual([]);
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
    undisturbed = { routes, ms };
    await nothingIsLeft();
    // A reaction, a comment that is kept up to date, a blob, a tree, a commit, a branch, a pull request.
    expect(new Set(routes).size).toBe(8);
  });

  it('is the same when the process is killed at any one of its writes', async () => {
    // A restarted fix writes about as often; the loop ends once a write number is past them all.
    const killedAt: string[] = [];
    let killed = true;
    for (let write = 1; killed; write += 1) {
      killed = false;
      let count = 0;
      const dead = Promise.withResolvers<void>();
      const off = world.github.faults.onWrite(({ route }) => {
        count += 1;
        if (count !== write || killed) return undefined;
        killed = true;
        killedAt.push(String(route));
        void world.apps.at(-1)?.kill().then(dead.resolve);
        return 'drop';
      });
      // The writes are the matter here: what was verified above is not verified again.
      const fix = await ask('new');
      const ended = untilFixed(world, fix);
      ended.catch(() => {}); // judged below, by the result
      await Promise.race([dead.promise, ended]);
      off();
      if (killed) {
        await dead.promise;
        await restart();
      }
      expect({ write, ...(await resultOf(fix)) }).toEqual({ write, ...whole });
      await nothingIsLeft();
    }
    console.info(
      `the process was killed at ${killedAt.length} writes, one after the other:\n  ${killedAt.join('\n  ')}`,
    );
    expect([...new Set(killedAt)].sort()).toEqual([...new Set(undisturbed.routes)].sort());
  }, 1_800_000);

  it('is the same when the process is killed at ten random moments', async () => {
    const moments: number[] = [];
    for (let kill = 0; kill < randomKills; kill += 1) {
      const fix = await ask(`new-${kill}`);
      // The moment itself is what is random here: no condition is waited for.
      const ms = Math.round(((kill + Math.random()) / randomKills) * undisturbed.ms);
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
    await assertStrict(world);
  });
});
