import { queryRows } from '../../support/app/data-directory.ts';
import type { World } from '../../support/app/world.ts';

interface Spent {
  /** Tokens of each call, as it was charged; sorted. */
  readonly booked: readonly number[];
  /** Calls whose end nobody saw: charged as estimated. */
  readonly estimated: number;
}

/** What the rows say that was spent, by attempt; the planner's under its task. */
async function bookedTokens(world: World): Promise<Map<string, Spent>> {
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

/**
 * Attempts whose spend is not what the model says it used, call by call; the planner's calls count under its task. Of
 * an attempt that was cut off, the call in flight is charged as it was estimated: nobody saw its end.
 */
export async function misbooked(world: World): Promise<object[]> {
  const ends = await queryRows<{ id: string }>(
    world.databaseDir,
    "select id from attempts where status in ('lost', 'cancelled')",
  );
  const cutOff = new Set(ends.map(({ id }) => id));
  const booked = await bookedTokens(world);
  const used = usedTokens(world);
  return [...new Set([...booked.keys(), ...used.keys()])].flatMap((by) => {
    const spent = booked.get(by) ?? { booked: [], estimated: 0 };
    const tokens = used.get(by) ?? [];
    const unbooked = without(tokens, spent.booked);
    const inFlight = cutOff.has(by) ? 1 : 0;
    const right =
      without(spent.booked, tokens).length === 0 &&
      unbooked.length <= inFlight &&
      spent.estimated <= inFlight;
    return right ? [] : [{ by, used: tokens, ...spent }];
  });
}

/** What is left of a list when each of the others was taken out once. */
function without(list: readonly number[], others: readonly number[]): number[] {
  const left = [...list];
  for (const one of others) {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
