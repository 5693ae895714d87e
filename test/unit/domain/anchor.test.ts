import { describe, expect, it } from 'vitest';
import { anchorInDiff, relocate } from '../../../src/domain/anchor.ts';
import type { DiffLine, FileChange } from '../../../src/domain/change.ts';
import type { Finding } from '../../../src/domain/finding.ts';

const context = (text: string, oldLine: number, newLine: number): DiffLine => ({
  kind: 'context',
  text,
  oldLine,
  newLine,
});
const added = (text: string, newLine: number): DiffLine => ({ kind: 'added', text, oldLine: null, newLine });
const deleted = (text: string, oldLine: number): DiffLine => ({
  kind: 'deleted',
  text,
  oldLine,
  newLine: null,
});

const change: FileChange = {
  path: 'a.ts',
  oldPath: null,
  status: 'modified',
  oldMode: '100644',
  newMode: '100644',
  oldBlob: '1'.repeat(40),
  newBlob: '2'.repeat(40),
  binary: false,
  additions: 2,
  deletions: 2,
  hunks: [
    {
      oldStart: 3,
      oldLines: 2,
      newStart: 3,
      newLines: 3,
      lines: [context('three', 3, 3), deleted('gone', 4), added('four', 4), added('five', 5)],
    },
    { oldStart: 11, oldLines: 1, newStart: 11, newLines: 0, lines: [deleted('gone', 11)] },
  ],
};
const file = ['one', 'two', 'three', 'four', 'five', 'six  ', 'two', '', '', 'ten\r'];

const finding: Finding = {
  path: 'a.ts',
  side: 'RIGHT',
  startLine: 4,
  endLine: 4,
  severity: 'error',
  confidence: 1,
  rule: 'r',
  title: 't',
  body: '',
  quote: 'four',
  replacement: 'FOUR',
};

describe('anchorInDiff', () => {
  it.each([
    ['RIGHT', 3, 5, true],
    ['RIGHT', 2, 3, false],
    ['RIGHT', 5, 6, false],
    ['RIGHT', 5, 4, false],
    ['RIGHT', 11, 11, false],
    ['LEFT', 3, 4, true],
    ['LEFT', 4, 5, false],
    ['LEFT', 11, 11, true],
    ['LEFT', 4, 11, false],
    ['LEFT', 0, 0, false],
  ] as const)('%s lines %i to %i: %s', (side, start, end, inside) => {
    expect(anchorInDiff(change, side, start, end)).toBe(inside);
  });
});

describe('relocate', () => {
  const at = (patch: Partial<Finding>, lines: readonly string[] | null = file) =>
    relocate({ ...finding, ...patch }, change, lines);

  it('keeps a finding whose quote is where it says', () => {
    expect(at({})).toEqual({ finding });
  });

  it('moves a finding to the only place of its quote, however far', () => {
    expect(at({ startLine: 90, endLine: 90 })).toEqual({ finding });
  });

  it('moves a finding to the nearest of several places', () => {
    expect(at({ startLine: 6, endLine: 6, quote: 'two' })).toEqual({
      finding: { ...finding, startLine: 7, endLine: 7, quote: 'two' },
    });
  });

  it('refuses where two places are equally near, or the nearest is far', () => {
    const lines = ['x', 'a', 'x', ...Array.from({ length: 40 }, () => 'b')];
    const refused = { refused: 'the quoted text occurs 2 times, and not at the stated line' };
    expect(at({ startLine: 2, endLine: 2, quote: 'x' }, lines)).toEqual(refused);
    expect(at({ startLine: 24, endLine: 24, quote: 'x' }, lines)).toEqual(refused);
    expect(at({ startLine: 23, endLine: 23, quote: 'x' }, lines)).toEqual({
      finding: { ...finding, startLine: 3, endLine: 3, quote: 'x' },
    });
  });

  it('does not compare trailing white space, and quotes the line as it is', () => {
    expect(at({ startLine: 6, endLine: 6, quote: 'six' })).toEqual({
      finding: { ...finding, startLine: 6, endLine: 6, quote: 'six  ' },
    });
    expect(at({ startLine: 10, endLine: 10, quote: 'ten \r' })).toEqual({
      finding: { ...finding, startLine: 10, endLine: 10, quote: 'ten' },
    });
  });

  it('compares leading white space', () => {
    expect(at({ quote: ' four' })).toEqual({ refused: 'the quoted text does not exist in the file' });
  });

  it('takes a final newline of the quote as the end of its last line', () => {
    expect(at({ quote: 'four\n' })).toEqual({ finding });
  });

  it('spans exactly the quote, without a replacement made for other lines', () => {
    expect(at({ startLine: 3, endLine: 9 })).toEqual({ finding: { ...finding, replacement: null } });
    expect(at({ quote: 'four\nfive', endLine: 4 })).toEqual({
      finding: { ...finding, endLine: 5, quote: 'four\nfive', replacement: null },
    });
  });

  it('takes a blank quote only at the stated line', () => {
    expect(at({ startLine: 8, endLine: 8, quote: '' })).toEqual({
      finding: { ...finding, startLine: 8, endLine: 8, quote: '' },
    });
    expect(at({ startLine: 4, endLine: 4, quote: ' ' })).toEqual({ refused: 'the quote is blank' });
  });

  it('holds LEFT findings against deleted lines alone', () => {
    expect(at({ side: 'LEFT', quote: 'gone' })).toEqual({
      finding: { ...finding, side: 'LEFT', quote: 'gone' },
    });
    expect(at({ side: 'LEFT', startLine: 3, endLine: 3, quote: 'three' })).toEqual({
      refused: 'the quoted text does not exist in the file',
    });
  });

  it('knows only lines of the diff where the file is not given', () => {
    expect(at({ startLine: 5, endLine: 5 }, null)).toEqual({ finding });
    expect(at({ startLine: 1, endLine: 1, quote: 'one' }, null)).toEqual({
      refused: 'the quoted text does not exist in the file',
    });
  });

  it('refuses files that did not change', () => {
    expect(at({ path: 'b.ts' })).toEqual({ refused: 'the file is not part of the change' });
  });
});
