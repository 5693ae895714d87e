import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelsByRules, triageByRules, wordFits } from '../../../src/domain/triage-rules.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

const issue = {
  title: 'Crashes: out of   memory',
  body: 'With **Node.js** 24 and C++, *segfaults* at start-up.\n\nSee docs/README.md (v1.24.3)',
};
const labels = (...match: string[]) => labelsByRules([{ match, labels: ['x'] }], issue);

describe('a rule', () => {
  it.each([
    ['crash*'],
    ['CRASHES'],
    ['out of memory'],
    ['node.js'],
    ['c++'],
    ['segfaults'],
    ['*fault*'],
    ['start-up'],
    ['readme.md'],
    ['v1.*'],
    ['out * memory'],
    ['nothing of it', 'memory'],
  ])('fits by %j', (...match) => {
    expect(labels(...match)).toEqual(['x']);
  });

  it.each([['crash'], ['memory with'], ['fault'], ['c'], ['memory out'], ['...'], ['v2.*'], ['of*memory']])(
    'does not fit by %j',
    (match) => {
      expect(labels(match)).toEqual([]);
    },
  );

  it('gives its labels in the order of the rules, each once, at most ten', () => {
    const rules = [
      { match: ['memory'], labels: ['b', 'a'] },
      { match: ['nowhere'], labels: ['no'] },
      { match: ['c++'], labels: ['a', ...Array.from({ length: 9 }, (_, n) => `l${n}`), 'beyond'] },
    ];
    expect(labelsByRules(rules, issue)).toEqual(['b', 'a', ...Array.from({ length: 8 }, (_, n) => `l${n}`)]);
    expect(triageByRules(rules, issue)).toMatchObject({ duplicates: [], question: null });
    expect(triageByRules([], issue).summary).toBe('No rule of the repository file fits this issue.');
  });
});

describe('a word with stars', () => {
  it('fits as the expression with any characters would', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (given, shape) => {
        const word = given.replaceAll('*', '');
        const expression = shape
          .split('*')
          .map((part) => part.replaceAll('.', '\\.'))
          .join('.*');
        expect(wordFits(word, shape)).toBe(new RegExp(`^${expression}$`).test(word));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no time to speak of, however it was made to', () => {
    const bad = { title: 'a'.repeat(100_000), body: 'a '.repeat(50_000) };
    const match = Array.from({ length: 10 }, () => `${'a*'.repeat(49)}b`);
    const rules = Array.from({ length: 50 }, () => ({ match, labels: ['x'] }));
    const took = cpuTimeOf(() => expect(labelsByRules(rules, bad)).toEqual([]));
    expect(took).toBeLessThan(5000);
  });
});
