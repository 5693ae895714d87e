import pg from 'pg';
import { pino } from 'pino';
import { createQueue } from '../../../src/scheduling/queue.ts';
import { queryRows, sandboxesOf } from '../../support/app/data-directory.ts';
import type { World } from '../../support/app/world.ts';

/** What is at zero when a fleet has nothing to do. */
export async function openEnds(world: World, databaseUrl: string) {
  const [rows] = await queryRows<Record<string, number>>(
    world.databaseDir,
    `select (select count(*) from attempts where status in ('queued', 'running'))::int as "live attempts",
            (select count(*) from subtasks where status in ('waiting', 'running'))::int as "open rows",
            (select count(*) from tasks where phase <> 'finished')::int as "open tasks",
            (select count(*) from deliveries where status = 'received')::int as "open deliveries",
            (select count(*) from publications where status in ('pending', 'sending'))::int as "open publications",
            (select count(*) from usage where state = 'reserved')::int as "reserved calls",
            (select count(*) from checkpoints)::int as "kept checkpoints"`,
  );
  const sandboxes = await sandboxesOf(world.dataDir);
  return { ...rows, sandboxes: sandboxes.length, jobs: await queuedJobs(databaseUrl) };
}

/** Jobs that wait or run, in all queues. */
async function queuedJobs(databaseUrl: string): Promise<number> {
  const queue = await createQueue({
    backend: {
      kind: 'postgres',
      newPool: (schema) =>
        new pg.Pool({ connectionString: databaseUrl, options: `-c search_path=${schema}`, max: 2 }),
    },
    queueShards: 4,
    leaseMs: 5000,
    log: pino({ level: 'silent' }),
  });
  try {
    return Object.values(await queue.depth()).reduce((sum, depth) => sum + depth, 0);
  } finally {
    await queue.close();
  }
}

interface Spent {
  /** Tokens of each call, as it was charged; sorted. */
  readonly booked: readonly number[];
  /** Calls whose end nobody saw: charged as estimated. */
  readonly estimated: number;
}

/** What the rows say that was spent, by attempt; the planner's under its task. */
export async function bookedTokens(world: World): Promise<Map<string, Spent>> {
  const rows = await queryRows<{ attempt: string; booked: number[]; estimated: number }>(
    world.databaseDir,
    `select attempt_id as attempt,
            coalesce(array_agg(tokens order by tokens) filter (where not estimated), '{}') as booked,
            count(*) filter (where estimated)::int as estimated
       from usage group by attempt_id`,
  );
  return new Map(rows.map(({ attempt, ...spent }) => [attempt, spent]));
}

/** What the model says it used, by the same names; calls that it did not answer whole are left out. */
export function usedTokens({ model }: World): Map<string, number[]> {
  const calls = model.journal().flatMap(({ attempt, body, usage, aborted }) => {
    const prompt = String(body?.messages.find(({ role }) => role === 'user')?.content ?? '');
    const by = attempt === '' ? (/^task: (\S+)$/m.exec(prompt.slice(-1000))?.[1] ?? '') : attempt;
    return usage === null || aborted ? [] : [{ by, tokens: usage.prompt + usage.completion }];
  });
  return new Map(
    [...Map.groupBy(calls, ({ by }) => by)].map(([by, all]) => [
      by,
      all.map(({ tokens }) => tokens).toSorted((a, b) => a - b),
    ]),
  );
}
