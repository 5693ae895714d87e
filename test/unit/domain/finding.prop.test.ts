import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Finding, fingerprint, mergeFindings, severities } from '../../../src/domain/finding.ts';

const finding = fc
  .record({
    path: fc.constantFrom('a', 'b'),
    side: fc.constantFrom('LEFT' as const, 'RIGHT' as const),
    startLine: fc.integer({ min: 1, max: 12 }),
    span: fc.nat(3),
    severity: fc.constantFrom(...severities),
    confidence: fc.constantFrom(0.2, 0.5, 1),
    rule: fc.constantFrom('r', 'R', 's'),
    title: fc.string({ minLength: 1, maxLength: 4 }),
    body: fc.string({ maxLength: 4 }),
    quote: fc.constantFrom('x', 'y', 'z', ' x'),
    replacement: fc.option(fc.constantFrom('p', 'q')),
  })
  .map(({ span, ...rest }): Finding => ({ ...rest, endLine: rest.startLine + span }));
const rows = fc.array(fc.array(finding, { maxLength: 6 }), { maxLength: 4 });

describe('mergeFindings', () => {
  it('leaves no two findings that are the same', () => {
    fc.assert(
      fc.property(rows, (perRow) => {
        const merged = mergeFindings(perRow);
        expect(new Set(merged.map(fingerprint)).size).toBe(merged.length);
        for (const a of merged) {
          for (const b of merged) {
            if (a === b || a.path !== b.path || a.side !== b.side) continue;
            if (a.rule.toLowerCase() !== b.rule.toLowerCase()) continue;
            expect(a.endLine < b.startLine || b.endLine < a.startLine).toBe(true);
          }
        }
      }),
    );
  });

  it('loses no path, no rule and no severity: each finding has its fingerprint or an overlapping heir', () => {
    fc.assert(
      fc.property(rows, (perRow) => {
        const all = perRow.flat();
        const merged = mergeFindings(perRow);
        const kinds = (findings: readonly Finding[]) =>
          [
            ...new Set(findings.map((each) => `${each.path} ${each.side} ${each.rule.toLowerCase()}`)),
          ].toSorted();
        expect(kinds(merged)).toEqual(kinds(all));
        const worst = (findings: readonly Finding[]) =>
          severities.find((severity) => findings.some((each) => each.severity === severity));
        expect(worst(merged)).toBe(worst(all));
      }),
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(rows, (perRow) => {
        const merged = mergeFindings(perRow);
        expect(mergeFindings([merged])).toEqual(merged);
      }),
    );
  });

  it('goes by row, not by when a row arrived', () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.nat()), (perRow, chance) => {
        const arrivals = perRow
          .map((findings, row) => ({ findings, row, at: chance.next().value }))
          .toSorted((a, b) => a.at - b.at);
        const collected: Finding[][] = [];
        for (const { findings, row } of arrivals) collected[row] = findings;
        expect(mergeFindings(collected)).toEqual(mergeFindings(perRow));
      }),
    );
  });
});
