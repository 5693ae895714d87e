import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows } from '../support/app/data-directory.ts';
import { until } from '../support/app/until.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { askFix, readFix, untilFixed } from '../support/fixes/read-fix.ts';
import { fixRepository, fixScript } from '../support/fixes/small-fix.ts';

/**
 * Workers killed (SIGKILL) while their agents are in the middle of a row: another worker goes on from the last
 * finished turn.
 */

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: fixRepository,
    sharedDatabase: true,
    roles: [],
    operator: { timing: { heartbeat_ms: 300, lease_ms: 3000, reconcile_ms: 300 } },
  });
  for (const role of ['serve', 'work', 'work'] as const) await world.start(role, { dataDir: world.dataDir });
}, 120_000);
afterAll(() => world.close());

/** Reads, changes by tool and by program, checks, finishes: five turns, each with its own call of the model. */
function play(value: string): void {
  const { plans, fixes } = fixScript(value, { dot: true });
  world.model.configure({ plans, fixes, latencyMs: 700, runChecks: true, fixMs: 50 });
}

/** Calls of fixers, by subtask and turn, oldest first. */
const turnsOf = () => world.model.journal().filter(({ subtask, turn }) => subtask !== '' && turn >= 0);

/** A result as anybody sees it, its ids left out. */
async function resultOf(fix: Awaited<ReturnType<typeof askFix>>) {
  await untilFixed(world, fix);
  await untilIdle(world);
  const { outcome, isCandidate, head, pulls, answers } = await readFix(world, fix);
  return { outcome, isCandidate, tree: head?.tree, pulls: pulls.length, answers: answers.map(counts) };
}
const counts = (text: string) => /: (\d of \d subtasks merged)/.exec(text)?.[1] ?? text;

/** Kills the worker of the first attempt that has finished as many turns; gives its name. */
async function killWorkerAt(turn: number): Promise<string> {
  const asked = await until('an agent is in the middle of its row', () =>
    turnsOf().find((entry) => entry.turn >= turn && entry.endedAt === null && entry.attempt !== ''),
  );
  const [row] = await queryRows<{ worker: string }>(
    world.databaseDir,
    'select worker from attempts where id = $1',
    [asked.attempt],
  );
  const pid = /-(\d+)-[0-9a-f]+$/.exec(row?.worker ?? '')?.[1];
  const app = world.apps.find((one) => String(one.pid) === pid);
  if (app === undefined) throw new Error(`no app is the worker ${row?.worker}`);
  await app.kill();
  return row?.worker ?? '';
}

describe('a worker that is killed in the middle of a row', () => {
  it('costs no turn but those in flight: another goes on, and the result is the same', async () => {
    play('new');
    const undisturbed = await resultOf(await askFix(world));
    expect(undisturbed).toMatchObject({
      outcome: 'succeeded',
      pulls: 1,
      answers: ['4 of 4 subtasks merged'],
    });
    const turnsOfRow = Math.max(...turnsOf().map(({ turn }) => turn)) + 1;
    expect(turnsOfRow).toBeGreaterThanOrEqual(4);

    world.model.clearJournal();
    const fix = await askFix(world);
    const worker = await killWorkerAt(2);
    await world.start('work', { dataDir: world.dataDir });
    expect(await resultOf(fix)).toEqual(undisturbed);

    // Each turn was asked for once, but for the one that a lost attempt had begun and not finished.
    const attempts = await queryRows<{ id: string; subtask: string; status: string; worker: string }>(
      world.databaseDir,
      `select a.id, a.subtask_id as subtask, a.status, a.worker from attempts a join tasks t on t.id = a.task_id
        where t.kind = 'fix' and t.number = $1`,
      [fix.number],
    );
    const lost = attempts.filter(({ status }) => status === 'lost');
    expect(lost.map((attempt) => attempt.worker)).toEqual(lost.map(() => worker));
    const entries = turnsOf();
    const asked = Map.groupBy(entries, ({ subtask, turn }) => `${subtask} ${turn}`);
    const twice = [...asked.values()].filter((calls) => calls.length > 1);
    const lastOf = (id: string) => entries.findLast(({ attempt }) => attempt === id)?.number;
    expect(twice.map((calls) => calls.slice(0, -1).map(({ number }) => number))).toEqual(
      twice.map((calls) => lost.filter(({ id }) => id === calls[0]?.attempt).map(({ id }) => lastOf(id))),
    );
    const inFlight = entries.filter(({ aborted }) => aborted);
    // The row that was cut off went on where it stood, under another attempt and in another container.
    const cut = inFlight.find(({ turn }) => turn >= 2);
    const after = entries.filter(
      ({ subtask, attempt }) => subtask === cut?.subtask && attempt !== cut?.attempt,
    );
    expect(Math.min(...after.map(({ turn }) => turn))).toBe(cut?.turn);
    expect(after.every(({ sandbox }) => sandbox !== cut?.sandbox)).toBe(true);
    // What was in the prompt before is there again, word for word.
    const first = (body: unknown) => JSON.stringify((body as { messages: unknown[] }).messages.slice(2));
    const again = first(after.find(({ turn }) => turn === cut?.turn)?.body);
    expect(again.startsWith(first(cut?.body).slice(0, -1))).toBe(true);
  });

  it('leaves no checkpoint behind, and nothing strange', async () => {
    const [row] = await queryRows<{ kept: number }>(
      world.databaseDir,
      'select count(*)::int as kept from checkpoints',
    );
    expect(row?.kept).toBe(0);
    await assertStrict(world);
  });
});
