import { describe, expect, it } from 'vitest';
import { createFindingCollector } from '../../../src/agents/collect-findings.ts';
import { splitLines } from '../../../src/domain/change.ts';
import { sampleChange } from '../../support/model/sample-assignment.ts';

const { change, text } = sampleChange(
  'src/a.ts',
  [' const a = 1;', '-const gone = 2;', '+eval(a);', '+run(a);'],
  10,
);
const finding = {
  path: 'src/a.ts',
  start_line: 11,
  quote: 'eval(a);',
  severity: 'error' as const,
  rule: 'no-eval',
  title: 'Evaluates\ninput',
};

function collect() {
  return createFindingCollector([change], new Map([['src/a.ts', splitLines(text)]]));
}

describe('the finding collector', () => {
  it('records a finding whose quote is there', () => {
    const collector = collect();
    expect(collector.report({ ...finding, replacement: 'parse(a);\n' })).toBe('recorded at line 11');
    expect(collector.findings).toEqual([
      {
        path: 'src/a.ts',
        side: 'RIGHT',
        startLine: 11,
        endLine: 11,
        severity: 'error',
        confidence: 0.8,
        rule: 'no-eval',
        title: 'Evaluates input',
        body: '',
        quote: 'eval(a);',
        replacement: 'parse(a);',
      },
    ]);
  });

  it('moves a finding to where its quote is, and says so', () => {
    const collector = collect();
    expect(collector.report({ ...finding, start_line: 14 })).toBe(
      'recorded at line 11, where the quoted text is',
    );
    expect(collector.findings[0]).toMatchObject({ startLine: 11, endLine: 11 });
  });

  it('takes a deleted line by its old number, without a replacement', () => {
    const collector = collect();
    const left = {
      ...finding,
      side: 'LEFT' as const,
      start_line: 11,
      quote: 'const gone = 2;',
      replacement: 'x',
    };
    expect(collector.report(left)).toBe('recorded at line 11');
    expect(collector.findings[0]).toMatchObject({ side: 'LEFT', replacement: null });
  });

  it.each([
    ['a quote that does not exist', { quote: 'evil(a);' }, /does not exist/],
    ['a quote that cannot be stored', { quote: 'eval\0(a);' }, /NUL/],
    ['a file that is no input', { path: 'src/b.ts' }, /not one of your inputs: "src\/a.ts"/],
    ['lines that end before they start', { end_line: 3 }, /before start_line/],
  ])('refuses %s, with the reason', (_, change, reason) => {
    const collector = collect();
    expect(collector.report({ ...finding, ...change })).toMatch(reason);
    expect([collector.findings, collector.refused]).toEqual([[], 1]);
  });

  it('keeps nothing that cannot be stored', () => {
    const collector = collect();
    collector.report({ ...finding, rule: '\0', title: 'a\0b', body: 'c\0\ud800', replacement: '\0x' });
    expect(collector.findings).toEqual([
      expect.objectContaining({ rule: 'finding', title: 'ab', body: 'c\ufffd', replacement: 'x' }),
    ]);
  });

  it('keeps a finding once', () => {
    const collector = collect();
    collector.report(finding);
    expect(collector.report({ ...finding, path: './src/a.ts', title: 'Again' })).toMatch(/reported before/);
    expect(collector.findings).toHaveLength(1);
  });
});
