import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows } from '../support/app/data-directory.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { agentCalls, attemptsOf, killWorkerAt, paidTwice } from '../support/fixes/lost-worker.ts';
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
    // A worker that is held up for some seconds is not lost: only one that is killed is.
    operator: { timing: { heartbeat_ms: 300, lease_ms: 6000, reconcile_ms: 300 } },
  });
  for (const role of ['serve', 'work', 'work'] as const) await world.start(role, { dataDir: world.dataDir });
});
afterAll(() => world.close());

/** Reads, changes by tool and by program, checks, finishes: five turns, each with its own call of the model. */
function play(value: string): void {
  const { plans, fixes } = fixScript(value, { dot: true });
  world.model.configure({ plans, fixes, latencyMs: 700, runChecks: true, fixMs: 50 });
}

/** Calls of fixers, by subtask and turn, oldest first. */
const turnsOf = () => agentCalls(world);

/** A result as anybody sees it, its ids left out. */
async function resultOf(fix: Awaited<ReturnType<typeof askFix>>) {
  await untilFixed(world, fix);
  await untilIdle(world);
  const { outcome, isCandidate, head, pulls, answers } = await readFix(world, fix);
  return { outcome, isCandidate, tree: head?.tree, pulls: pulls.length, answers: answers.map(counts) };
}
const counts = (text: string) => /: (\d of \d subtasks merged)/.exec(text)?.[1] ?? text;

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
    const worker = await killWorkerAt(world, 2);
    await world.start('work', { dataDir: world.dataDir });
    expect(await resultOf(fix)).toEqual(undisturbed);

    // Each turn was asked for once, but for the one that a lost attempt had begun and not finished.
    const attempts = await attemptsOf(world, fix);
    const lost = attempts.filter(({ status }) => status === 'lost');
    expect(lost.map((attempt) => attempt.worker)).toEqual(lost.map(() => worker));
    expect(paidTwice(world, attempts)).toEqual([]);
    const entries = turnsOf();
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
