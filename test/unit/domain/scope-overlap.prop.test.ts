import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comesAfter } from '../../../src/domain/parallelism.ts';
import { pathsThatExist, scopeOf, scopesOverlap } from '../../../src/domain/scope-overlap.ts';
import { matchGlobs } from '../../../src/planning/match-globs.ts';
import { collisions, findCycle, orderCollisions } from '../../../src/planning/row-order.ts';
import { validatePlan } from '../../../src/planning/validate-plan.ts';

const name = fc.constantFrom(
  'a',
  'b',
  'ab',
  '[id]',
  '(g)',
  'x.ts',
  'y.test.ts',
  '.hidden',
  'ü',
  '{z}',
  'a+b',
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const none = new Set<string>();

/** A pattern that may match the path: some of its names made wild, some runs of them `**`. */
function patternFor(target: string): fc.Arbitrary<string> {
  const names = target.split('/');
  return fc
    .array(fc.constantFrom('keep', 'star', 'prefix', 'suffix', 'question', 'any', 'deep', 'braces'), {
      minLength: names.length,
      maxLength: names.length,
    })
    .map((ways) =>
      names
        .map((one, index) => {
          switch (ways[index]) {
            case 'star':
              return '*';
            case 'prefix':
              return `${one.slice(0, 1).replace(/\W/, '')}*`;
            case 'suffix':
              return `*${one.slice(-1).replace(/[^\w]/, '')}`;
            case 'question':
              return `?${one.slice(1).replace(/\W.*/, '*')}`;
            case 'any':
              return '**';
            case 'deep':
              return `**${one.slice(-3).replace(/[^\w.]/g, '')}`;
            case 'braces':
              return `{${one.replace(/\W/g, '?')},nothing}`;
            default:
              return one;
          }
        })
        .join('/'),
    );
}

describe('overlap of scopes', () => {
  it('is found whenever one path is in both, whether it exists or is still to come', () => {
    fc.assert(
      fc.property(
        path.chain((target) => fc.tuple(fc.constant(target), patternFor(target), patternFor(target))),
        fc.boolean(),
        ([target, left, right], exists) => {
          fc.pre(matchGlobs([left])(target) && matchGlobs([right])(target));
          const files = exists ? [target] : [];
          const existing = pathsThatExist(files);
          const [a, b] = [scopeOf([left], files, existing), scopeOf([right], files, existing)];
          // A name that exists is taken literally, and then its glob may not match it any more.
          fc.pre(!exists || (a.covers.length > 0 && b.covers.length > 0));
          expect(scopesOverlap(a, b)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('does not depend on which comes first', () => {
    const pattern = path.chain(patternFor);
    fc.assert(
      fc.property(pattern, pattern, fc.array(path), (left, right, files) => {
        const existing = pathsThatExist(files);
        const [a, b] = [scopeOf([left], files, existing), scopeOf([right], files, existing)];
        expect(scopesOverlap(a, b)).toBe(scopesOverlap(b, a));
      }),
    );
  });

  it('is exact between literal paths', () => {
    fc.assert(
      fc.property(path, path, (left, right) => {
        fc.pre(!/[[\](){}]/.test(left + right));
        expect(scopesOverlap(scopeOf([left], [], none), scopeOf([right], [], none))).toBe(left === right);
      }),
    );
  });
});

const proposal = fc
  .array(
    fc.record({
      writes: fc.array(path.chain(patternFor), { minLength: 1, maxLength: 3 }),
      depends_on: fc.array(fc.nat(6), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((rows) => ({
    contract: '',
    rows: rows.map((row, index) => ({
      ...row,
      title: `row ${index}`,
      goal: 'g',
      inputs: [],
      verification: 'v',
    })),
  }));

describe('a validated plan', () => {
  it('is acyclic, and no two rows without an order write one file', () => {
    fc.assert(
      fc.property(proposal, fc.uniqueArray(path), fc.boolean(), (plan, files, order) => {
        const result = validatePlan(plan, {
          files,
          maxRows: 10,
          protection: () => null,
          collisions: order ? 'order' : 'fault',
        });
        if ('faults' in result) {
          expect(result.faults.length).toBeGreaterThan(0);
          if (order) expect(result.faults.join()).not.toContain('may both write');
          return;
        }
        const dependsOn = result.rows.map((row) => row.dependsOn);
        expect(findCycle(dependsOn)).toBeNull();
        const after = comesAfter(dependsOn);
        for (const [upper, row] of result.rows.entries())
          for (const [lower, other] of result.rows.slice(0, upper).entries()) {
            if (after[upper]?.has(lower) || after[lower]?.has(upper)) continue;
            expect(row.scope.covers.filter((file) => other.scope.covers.includes(file))).toEqual([]);
          }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps what was ordered when collisions are ordered', () => {
    fc.assert(
      fc.property(proposal, (plan) => {
        const scopes = plan.rows.map((row) => scopeOf(row.writes, [], none));
        const given = plan.rows.map((row, index) => row.depends_on.filter((other) => other < index));
        const ordered = orderCollisions(scopes, given);
        expect(collisions(scopes, ordered)).toEqual([]);
        expect(findCycle(ordered)).toBeNull();
        for (const [index, rows] of given.entries())
          expect(ordered[index]).toEqual(expect.arrayContaining(rows));
      }),
      { numRuns: 200 },
    );
  });
});
