import { describe, expect, it } from 'vitest';
import { type Finding, mergeFindings } from '../../../src/domain/finding.ts';

const finding: Finding = {
  path: 'a.ts',
  side: 'RIGHT',
  startLine: 4,
  endLine: 4,
  severity: 'warning',
  confidence: 0.5,
  rule: 'no-eval',
  title: 'eval',
  body: 'Runs text.',
  quote: 'eval(x)',
  replacement: null,
};
const other: Finding = { ...finding, path: 'b.ts' };

describe('mergeFindings', () => {
  it('orders by row, then by position in the row', () => {
    const third = { ...finding, path: 'c.ts' };
    expect(mergeFindings([[third, finding], [], [other]])).toEqual([third, finding, other]);
  });

  it('keeps one of the same fingerprint, at the worst severity and the highest confidence', () => {
    const surer = { ...finding, confidence: 0.9, rule: 'NO-EVAL' };
    const worse = { ...finding, severity: 'error' as const, title: 'eval of input' };
    expect(
      mergeFindings([
        [finding, surer],
        [other, worse],
      ]),
    ).toEqual([{ ...worse, confidence: 0.9 }, other]);
  });

  it.each([
    ['one has it', ['f(x)', null], 'f(x)'],
    ['both have the same', ['f(x)', 'f(x)'], 'f(x)'],
    ['they contradict each other', ['f(x)', 'g(x)'], null],
  ] as const)('keeps a replacement as told when %s', (_, [first, second], kept) => {
    const perRow = [[{ ...finding, replacement: first }], [{ ...finding, replacement: second }]];
    expect(mergeFindings(perRow)).toEqual([{ ...finding, replacement: kept }]);
  });

  it('takes no replacement over that was made for other lines', () => {
    const wide = { ...finding, endLine: 5, quote: 'eval(x)\n}', replacement: 'f(x)\n}' };
    expect(mergeFindings([[finding], [wide]])).toEqual([finding]);
  });

  it('names the other places of the same text with the same problem', () => {
    const places = [9, 7, 9].map((line) => ({ ...finding, startLine: line, endLine: line }));
    expect(mergeFindings([[finding, ...places]])).toEqual([
      { ...finding, body: 'Runs text.\n\nAlso at line 7, 9.' },
    ]);
  });

  it('keeps different rules on one line apart', () => {
    const rule = { ...finding, rule: 'injection' };
    expect(mergeFindings([[finding], [rule]])).toEqual([finding, rule]);
  });
});
