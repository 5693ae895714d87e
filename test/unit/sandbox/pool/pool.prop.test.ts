import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { poolSetting, settled } from '../fake-opener.ts';

const step = fc.oneof(
  fc.record({ do: fc.constant('prewarm'), kind: fc.nat(2), n: fc.nat(5) }),
  fc.record({ do: fc.constantFrom('take', 'end', 'fail', 'die', 'give up'), kind: fc.nat(2), n: fc.nat(5) }),
);

describe('whatever happens to a pool', () => {
  it('its bounds hold, people come first, nobody gets what another had, and nothing is left', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.record({ min: fc.nat(2), max: fc.nat(4), slots: fc.integer({ min: 1, max: 3 }) }),
        async (steps, { min, max, slots }) => {
          const at = poolSetting({ min, max }, slots);
          const got: string[] = [];
          const failed: unknown[] = [];
          const waiting = new Map<Promise<void>, AbortController>();
          const take = (snapshot: string) => {
            const abort = new AbortController();
            const taking: Promise<void> = at.pool
              .take({ snapshot }, abort.signal)
              .then(
                ({ sandbox: { container } }) => {
                  expect(container.id).toMatch(new RegExp(`^${snapshot}`));
                  got.push(container.id);
                },
                (thrown: unknown) => void (abort.signal.aborted || failed.push(thrown)),
              )
              .finally(() => waiting.delete(taking));
            waiting.set(taking, abort);
          };
          for (const { do: what, kind, n } of steps) {
            const snapshot = 'abc'[kind] ?? '';
            const before = at.starting.length;
            const ahead = at.pool.figures.pooled;
            if (what === 'prewarm') at.pool.prewarm({ snapshot }, n);
            if (what === 'take') take(snapshot);
            if (what === 'end') await at.starting[n]?.succeed();
            if (what === 'fail') await at.starting[n]?.fail();
            if (what === 'die') await at.die(`${snapshot}${n}`);
            if (what === 'give up') [...waiting.values()][n]?.abort(new Error('cancelled'));
            const crowded = waiting.size > slots && before === slots;
            await settled();
            expect(at.starting.length).toBeLessThanOrEqual(slots);
            expect(at.pool.figures.pooled).toBeLessThanOrEqual(max);
            // Somebody waits for a slot and will still: none was begun for the pool.
            if (crowded && what !== 'prewarm') expect(at.pool.figures.pooled).toBeLessThanOrEqual(ahead);
          }
          await at.pool.close();
          await at.succeedAll();
          await Promise.all(waiting.keys());
          expect(new Set(got).size).toBe(got.length);
          // Whatever was opened somebody has, or it is gone.
          expect([...got, ...at.discarded].toSorted()).toEqual(at.opened.toSorted());
          // Only a start of their own that failed.
          expect(failed.every((thrown) => String(thrown).includes('no engine'))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});
