import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { relocate, relocationReach } from '../../../src/domain/anchor.ts';
import type { FileChange } from '../../../src/domain/change.ts';
import type { Finding } from '../../../src/domain/finding.ts';

const change: FileChange = {
  path: 'a',
  oldPath: null,
  status: 'modified',
  oldMode: '100644',
  newMode: '100644',
  oldBlob: '1'.repeat(40),
  newBlob: '2'.repeat(40),
  binary: false,
  additions: 0,
  deletions: 0,
  hunks: [],
};

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ' a', 'a ', 'b\r', ''), { maxLength: 60 });
const finding = fc
  .record({
    startLine: fc.integer({ min: 1, max: 70 }),
    span: fc.nat(3),
    quote: fc.array(fc.constantFrom('a', 'b', 'c', 'd', ' a', 'a ', 'b\r', ''), {
      minLength: 1,
      maxLength: 4,
    }),
    replacement: fc.option(fc.constant('x')),
  })
  .map(
    ({ startLine, span, quote, replacement }): Finding => ({
      path: 'a',
      side: 'RIGHT',
      startLine,
      endLine: startLine + span,
      severity: 'note',
      confidence: 0.5,
      rule: 'r',
      title: 't',
      body: '',
      quote: quote.join('\n'),
      replacement,
    }),
  );

describe('relocate', () => {
  it('gives only findings that quote the very lines they are anchored at', () => {
    fc.assert(
      fc.property(lines, finding, (file, given) => {
        const result = relocate(given, change, file);
        if ('refused' in result) return;
        const { startLine, endLine, quote } = result.finding;
        const anchored = file.slice(startLine - 1, endLine);
        expect(anchored).toHaveLength(endLine - startLine + 1);
        expect(quote.split('\n')).toEqual(anchored.map((line) => line.replace(/\r$/, '')));
      }),
    );
  });

  it('moves a finding no further than its reach where its quote is not unique', () => {
    fc.assert(
      fc.property(lines, finding, (file, given) => {
        const result = relocate(given, change, file);
        if ('refused' in result) return;
        const quoted = result.finding.quote.split('\n').map((line) => line.trimEnd());
        const places = file.filter((_, at) =>
          quoted.every((line, index) => file[at + index]?.trimEnd() === line),
        );
        const moved = Math.abs(result.finding.startLine - given.startLine);
        if (places.length > 1) expect(moved).toBeLessThanOrEqual(relocationReach);
      }),
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(lines, finding, (file, given) => {
        const once = relocate(given, change, file);
        if ('finding' in once) expect(relocate(once.finding, change, file)).toEqual(once);
      }),
    );
  });
});
