import { queryRows } from '../app/data-directory.ts';
import { until } from '../app/until.ts';
import { describeWorld } from '../app/until-done.ts';
import type { World } from '../app/world.ts';
import { type JournalEntry, waitingCalls } from '../model/create-model-double.ts';
import type { AskedFix } from './read-fix.ts';

/** A worker that is killed while its agents are in the middle of their rows, and what was asked of the model then. */

/** Calls of agents, by subtask and turn, oldest first. */
export function agentCalls(world: World) {
  return world.model.journal().filter(({ subtask, turn }) => subtask !== '' && turn >= 0);
}

/**
 * Kills (SIGKILL) the worker of the first attempt that comes to its `turn`-th call (from 0), while the call waits for its
 * answer; its name. To be called before any agent got so far. `apart`: subtasks that are not meant.
 */
export async function killWorkerAt(
  world: World,
  turn: number,
  apart: ReadonlySet<string> = new Set(),
): Promise<string> {
  const isIt = (call: JournalEntry) => call.turn >= turn && call.attempt !== '' && !apart.has(call.subtask);
  // Nobody gets beyond that call before the worker is dead.
  const release = world.model.hold(isIt);
  try {
    const asked = await until(
      'an agent is in the middle of its row',
      () => waitingCalls(world.model).find(isIt),
      { describe: () => describeWorld(world) },
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
  } finally {
    release();
  }
}

interface AttemptFacts {
  readonly id: string;
  readonly subtask: string;
  readonly status: string;
  readonly worker: string;
}

export function attemptsOf(world: World, { number }: AskedFix): Promise<AttemptFacts[]> {
  return queryRows<AttemptFacts & Record<string, unknown>>(
    world.databaseDir,
    `select a.id, a.subtask_id as subtask, a.status, a.worker from attempts a join tasks t on t.id = a.task_id
      where t.kind = 'fix' and t.number = $1`,
    [number],
  );
}

/**
 * Calls of these attempts that were made again though they were not the last, unfinished word of a lost attempt: turns that were paid
 * twice. Each as `<subtask> <turn>`.
 */
export function paidTwice(world: World, attempts: readonly AttemptFacts[]): string[] {
  const own = new Set(attempts.map(({ id }) => id));
  const calls = agentCalls(world).filter(({ attempt }) => own.has(attempt));
  const lost = new Set(attempts.filter(({ status }) => status === 'lost').map(({ id }) => id));
  const inFlight = new Set([...lost].map((id) => calls.findLast(({ attempt }) => attempt === id)?.number));
  const byTurn = Map.groupBy(calls, ({ subtask, turn }) => `${subtask} ${turn}`);
  return [...byTurn].flatMap(([key, same]) =>
    same.slice(0, -1).flatMap(({ number }) => (inFlight.has(number) ? [] : [key])),
  );
}
