import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { histories } from '../../support/graph/histories.ts';
import { openMemoryWorld } from '../../support/graph/memory-world.ts';
import { play } from '../../support/graph/play.ts';

/** How much longer than by default: `PATCHFLEET_HISTORIES=20` plays twenty times as many. */
const times = Number(process.env['PATCHFLEET_HISTORIES'] ?? 1);

describe('a graph, played to its end against what may happen', () => {
  it(
    'keeps order, scopes and limits, ends, and counts each accepted result once',
    async () => {
      const short = histories({ maxRows: 10, maxEvents: 60 });
      await fc.assert(
        fc.asyncProperty(short, async (history) => {
          await play(openMemoryWorld, history);
        }),
        { numRuns: 4000 * times },
      );
    },
    600_000 * times,
  );

  it(
    'does so with hundreds of rows',
    async () => {
      const long = histories({ minRows: 200, maxRows: 500, maxEvents: 300 });
      await fc.assert(
        fc.asyncProperty(long, async (history) => {
          await play(openMemoryWorld, history);
        }),
        // To shrink hundreds of rows takes hours: what fails here is to be found again in short ones.
        { numRuns: 10 * times, endOnFailure: true },
      );
    },
    600_000 * times,
  );

  it(
    'gives the same results in the same order whoever comes first',
    async () => {
      const quiet = histories({ maxRows: 12, maxEvents: 0 });
      await fc.assert(
        fc.asyncProperty(
          quiet,
          fc.array(fc.nat(1 << 20), { minLength: 14, maxLength: 14 }),
          async (history, picks) => {
            const orders = [picks, picks.toReversed()].map((order) =>
              order.map((pick) => ({ kind: 'succeed' as const, pick, advance: true })),
            );
            const [one, other] = await Promise.all(
              orders.map((events) => play(openMemoryWorld, { ...history, events })),
            );
            expect(other?.results).toEqual(one?.results);
            expect(other?.rows).toEqual(one?.rows);
          },
        ),
        { numRuns: 200 * times },
      );
    },
    600_000 * times,
  );
});
