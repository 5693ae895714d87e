import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bisect } from '../../../src/merging/bisect.ts';

/** Asks `passes` until the culprits are known, and counts. */
function run(count: number, passes: (items: readonly number[]) => boolean) {
  const search = bisect(Array.from({ length: count }, (_, at) => at));
  const asked: (readonly number[])[] = [];
  for (let step = search.next(); ; ) {
    if (step.done) return { culprits: step.value, asked };
    asked.push(step.value);
    step = search.next(passes(step.value));
  }
}

const items = fc.integer({ min: 1, max: 64 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    bad: fc
      .uniqueArray(fc.integer({ min: 0, max: count - 1 }), { minLength: 1, maxLength: count })
      .map((list) => list.sort((a, b) => a - b)),
  }),
);
const most = (count: number, culprits: number) => culprits * (Math.ceil(Math.log2(count)) + 1);

describe('bisecting', () => {
  it('finds exactly the items that fail by themselves, in few questions', () => {
    fc.assert(
      fc.property(items, ({ count, bad }) => {
        const { culprits, asked } = run(count, (tried) => !tried.some((item) => bad.includes(item)));
        expect(culprits).toEqual(bad);
        expect(asked.length).toBeLessThanOrEqual(most(count, bad.length));
      }),
    );
  });

  it('finds three of 64, wherever they are, in 3 log2(64) + 4 verifications with the first of the whole', () => {
    const count = 64;
    let worst = 0;
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) {
        for (let c = b + 1; c < count; c += 1) {
          // Sets are asked in order: what decides is where the first of the three is.
          const { culprits, asked } = run(
            count,
            (tried) => !tried.some((it) => it === a || it === b || it === c),
          );
          if (culprits.join() !== [a, b, c].join()) expect(culprits).toEqual([a, b, c]);
          worst = Math.max(worst, 1 + asked.length);
        }
      }
    }
    expect(worst).toBe(3 * 6 + 4);
  });

  it('leaves out one of those that fail only together, and keeps the others', () => {
    const groups = fc.integer({ min: 2, max: 40 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        pairs: fc.array(
          fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { minLength: 2, maxLength: 3 }),
          { minLength: 1, maxLength: 5 },
        ),
      }),
    );
    fc.assert(
      fc.property(groups, ({ count, pairs }) => {
        const passes = (tried: readonly number[]) =>
          !pairs.some((pair) => pair.every((item) => tried.includes(item)));
        const { culprits, asked } = run(count, passes);
        const kept = Array.from({ length: count }, (_, at) => at).filter((item) => !culprits.includes(item));
        expect(passes(kept)).toBe(true);
        // Every one that was left out is needed out: with it, what was kept fails.
        for (const culprit of culprits) {
          expect(passes([...kept, culprit])).toBe(false);
        }
        expect(asked.length).toBeLessThanOrEqual(most(count, culprits.length));
      }),
    );
  });

  it('ends with a set that passed last, or with nothing, whatever it is told', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.infiniteStream(fc.boolean()).map((stream) => stream[Symbol.iterator]()),
        (count, answers) => {
          const passed = new Set<string>();
          const { culprits, asked } = run(count, (tried) => {
            const answer = answers.next().value === true;
            if (answer) passed.add(tried.join());
            return answer;
          });
          const kept = Array.from({ length: count }, (_, at) => at).filter(
            (item) => !culprits.includes(item),
          );
          expect(culprits.length).toBeGreaterThan(0);
          expect(kept.length === 0 || passed.has(kept.join())).toBe(true);
          expect(asked.length).toBeLessThanOrEqual(most(count, culprits.length));
        },
      ),
    );
  });
});
