import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { complexityOf } from '../../../src/planning/complexity.ts';
import { makeChange } from './make-change.ts';

describe('complexityOf', () => {
  it('grows with every added line, and is a whole number of at least 1', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { maxLength: 30 }),
        fc.constantFrom('x', '  x', 'import x'),
        (lines, more) => {
          const before = complexityOf(makeChange('a', lines));
          const after = complexityOf(makeChange('a', [...lines, more]));
          expect(Number.isInteger(before)).toBe(true);
          expect(before).toBeGreaterThanOrEqual(1);
          expect(after).toBeGreaterThanOrEqual(lines.length + 1);
        },
      ),
    );
  });

  it('scores nested code above flat code of the same length, by brackets or by indentation', () => {
    const flat = ['a()', 'b()', 'c()', 'd()', 'e()'];
    const indented = ['if a:', '  if b:', '    if c:', '      if d:', '        e()'];
    const bracketed = ['if (a) {', 'if (b) {', 'if (c) {', 'if (d) {', 'e()'];
    const score = (lines: string[]) => complexityOf(makeChange('a', lines));
    expect(score(indented)).toBeGreaterThan(score(flat));
    expect(score(bracketed)).toBeGreaterThan(score(flat));
  });

  it('scores changed imports, and imports of the file where its text is known', () => {
    const change = makeChange('a', [
      "import a from 'a';",
      'from x import y',
      '#include <x>',
      "const b = require('b');",
    ]);
    expect(complexityOf(change)).toBe(4 + 2 + 4 * (1 + 2));
    expect(complexityOf(change, "import a from 'a';\n".repeat(8))).toBe(4 + 2 + 4 * (1 + 2) + 2);
    expect(complexityOf(change, "import a from 'a';\n".repeat(800))).toBe(4 + 2 + 4 * (1 + 2) + 10);
  });

  it('scores several places above one', () => {
    const [hunk] = makeChange('a', ['x', 'y']).hunks;
    const twice =
      hunk === undefined ? [] : [hunk, hunk].map((each) => ({ ...each, lines: each.lines.slice(0, 1) }));
    expect(complexityOf(makeChange('a', [], { hunks: twice }))).toBe(
      complexityOf(makeChange('a', ['x', 'y'])) + 2,
    );
  });
});
