import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/app/until.ts';
import { whyNoEngine } from '../../support/second-engine.ts';
import type { StormForm } from './form.ts';
import { judgeStorm } from './judge.ts';
import { isQuiet, readFacts, readProgress, readTurns, sandboxesLeft } from './observe.ts';
import { judgePaidTurns } from './paid-turns.ts';
import { problemsOf } from './problems.ts';
import { createRandom, type Random } from './random.ts';
import { figuresOf, type StormReport } from './result.ts';
import { type Away, type Outage, type Step, scheduleStorm } from './schedule.ts';
import { type AskedTask, askFor, type StormTask, stormTasks } from './tasks.ts';
import { leaseMs, openStorm, type StormWorld } from './world.ts';

export interface StormContext {
  readonly seed: number;
  /** Tells of progress, on standard error. */
  readonly say: (line: string) => void;
  /** Aborts when the storm is to stop; it leaves nothing behind then either. */
  readonly signal: AbortSignal;
  /** Where the processes' logs go and stay; null: they are removed. */
  readonly logsDir: string | null;
}

/** Sandboxes of lost attempts: a lease until the attempt is lost, then the reaper's interval, which is a lease too; and as much again as a slow machine takes. */
const reapMs = 20 * leaseMs;

/** For the work to come as far as the next kill wants it. */
const patienceMs = 30_000;

export async function runStorm(form: StormForm, context: StormContext): Promise<StormReport> {
  const { seed, say, signal } = context;
  const why = whyNoEngine();
  if (form.dockerRestarts > 0 && why !== null) throw new Error(why);
  const random = createRandom(seed);
  const tasks = stormTasks(form);
  const steps = scheduleStorm(form, random.fork('schedule'));
  say(`seed ${seed}: ${form.kills} kills, ${tasks.length} tasks of ${form.rows} rows`);
  const world = await openStorm(form, tasks, { random, logsDir: context.logsDir, signal });
  try {
    const started = performance.now();
    const seen = await blow(world, form, tasks, steps, { ...context, random: random.fork('kills') });
    say(`all ${seen.kills} kills are done; waiting for the rest of the work`);
    const settled = await settle(world, seen.asked, form.settleMs, signal);
    const wallMs = performance.now() - started;
    const late = await world.apps.stop();
    const judged = judgeStorm(seen.asked, await readFacts(world, seen.asked));
    const { calls, kills, holds, plannedAt } = await readTurns(world);
    const turns = judgePaidTurns(calls, kills, holds, plannedAt);
    return {
      result: figuresOf(judged, turns, { kills: seen.kills, tasks: seen.asked.length, wallMs }),
      faults: Object.values(judged).flat(),
      problems: problemsOf(world, { away: seen.away, late, settled }),
      notes: notesOf(world, seen, turns.unexplained),
    };
  } finally {
    await world.close();
  }
}

interface Seen {
  readonly asked: AskedTask[];
  readonly away: Away[];
  kills: number;
  /** Kills that met no open task. */
  idle: number;
}

/** Kills, one step after the other, while the work is asked for and servers go away beside. */
async function blow(
  world: StormWorld,
  form: StormForm,
  tasks: readonly StormTask[],
  steps: readonly Step[],
  { say, signal, random }: StormContext & { random: Random },
): Promise<Seen> {
  const seen: Seen = { asked: [], away: [], kills: 0, idle: 0 };
  const outages: Promise<void>[] = [];
  let failed: { error: unknown } | null = null;
  const ask = async () => {
    const task = tasks[seen.asked.length];
    if (task !== undefined) seen.asked.push(await askFor(world.github, task));
  };
  for (const { pauseMs, asks, outages: due, rowsDone } of steps) {
    for (const position of asks) if (seen.asked.length <= position) await ask();
    for (const outage of due) {
      say(`${outage}, after ${seen.kills} kills`);
      outages.push(
        takeAway(world, outage, seen.away, form.dockerAwayMs).catch((error: unknown) => {
          failed ??= { error };
        }),
      );
    }
    await delay(pauseMs, undefined, { signal });
    await untilWorking(world, rowsDone, signal);
    const progress = await readProgress(world);
    // A kill proves something while there is work: the next task comes early where all that came is done.
    if (progress?.open === 0 && world.relay.pending() === 0) await ask();
    if (progress?.open === 0 && seen.asked.length === tasks.length) seen.idle += 1;
    await until('a process runs that can be killed', () => world.apps.kill(random), { signal, everyMs: 20 });
    seen.kills += 1;
    if (seen.kills % 10 === 0) say(`${seen.kills} kills, ${seen.asked.length} tasks asked for`);
  }
  while (seen.asked.length < tasks.length) await ask();
  await Promise.all(outages);
  if (failed !== null) throw (failed as { error: unknown }).error;
  return seen;
}

/**
 * Most processes are up again and the work is as far as it should be; a fleet that gets no further for a while is
 * killed all the same.
 */
async function untilWorking(world: StormWorld, rowsDone: number, signal: AbortSignal): Promise<void> {
  const what = 'the fleet works';
  const works = async () => {
    const { ready, of } = world.apps.ready();
    return ready > of / 2 && ((await readProgress(world))?.done ?? 0) >= rowsDone;
  };
  await until(what, works, { limitMs: patienceMs, everyMs: 100, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!(error instanceof Error && error.message.startsWith(what))) throw error;
  });
}

async function takeAway(
  world: StormWorld,
  outage: Outage,
  away: Away[],
  dockerAwayMs: number,
): Promise<void> {
  const entry: Away = { outage, from: Date.now(), to: Number.POSITIVE_INFINITY };
  away.push(entry);
  if (outage === 'redis flush') await world.redis.flush();
  else if (outage === 'redis restart') await world.redis.restart();
  else if (outage === 'docker restart') await world.engine?.restart(dockerAwayMs);
  else await world.postgres.restart(outage === 'postgres fast' ? 'fast' : 'immediate');
  entry.to = Date.now();
}

/** Waits for the end of all work and of all sandboxes; false where it did not come in time, which the judges then see. */
async function settle(
  world: StormWorld,
  asked: readonly AskedTask[],
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const inTime = async (what: string, ask: () => Promise<boolean>, ms: number) =>
    until(what, ask, { limitMs: ms, everyMs: 500, signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof Error && error.message.startsWith(what)) return false;
      throw error;
    });
  const quiet = await inTime('all work is done', () => isQuiet(world, asked.length), limitMs);
  await world.github.settled();
  await inTime('no sandbox is left', async () => (await sandboxesLeft(world)).length === 0, reapMs);
  return quiet;
}

function notesOf({ apps, relay }: StormWorld, seen: Seen, unexplained: readonly string[]): string[] {
  const killed = Map.groupBy(
    apps.lives.filter(({ end }) => end === 'killed'),
    ({ role }) => role,
  );
  const { webhooks, copies, tries } = relay.counts;
  const by = [...killed].map(([role, lives]) => {
    const early = lives.filter(({ readyAt }) => readyAt === null).length;
    return `${lives.length} ${role} (${early} while starting)`;
  });
  return [
    `killed: ${by.join(', ')}; ${seen.idle} when nothing was to do`,
    ...seen.away.map(({ outage, from, to }) => `${outage}: ${to - from} ms`),
    `webhooks: ${webhooks}, posted ${copies} times, by ${tries} tries`,
    ...unexplained.map((one) => `paid twice without a kill: ${one}`),
  ];
}
