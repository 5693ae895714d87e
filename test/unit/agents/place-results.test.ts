import { describe, expect, it } from 'vitest';
import { placeResults } from '../../../src/agents/place-results.ts';
import type { RawResult } from '../../../src/agents/raw-result.ts';
import { splitLines } from '../../../src/domain/change.ts';
import { sampleChange } from '../../support/model/sample-assignment.ts';

const { change, text } = sampleChange('a.ts', [' one', '+two\r', '+three', ' four'], 10);
const files = new Map([['a.ts', splitLines(text)]]);
const raw = (overrides: Partial<RawResult> = {}): RawResult => ({
  path: 'a.ts',
  startLine: 11,
  endLine: 11,
  severity: 'warning',
  rule: 'r',
  message: 'Bad.',
  fix: null,
  ...overrides,
});
const finding = (overrides: object = {}) => ({
  path: 'a.ts',
  side: 'RIGHT',
  startLine: 11,
  endLine: 11,
  severity: 'warning',
  confidence: 1,
  rule: 'r',
  title: 'Bad.',
  body: '',
  quote: 'two',
  replacement: null,
  ...overrides,
});

describe('placeResults', () => {
  it.each<[string, Partial<RawResult>, object]>([
    ['a result on a line of the change', {}, {}],
    ['a result over several lines', { endLine: 12 }, { endLine: 12, quote: 'two\nthree' }],
    [
      'a result on a context line',
      { startLine: 13, endLine: 13 },
      { startLine: 13, endLine: 13, quote: 'four' },
    ],
    ['a long message', { message: 'Bad.\nVery.' }, { title: 'Bad. Very.', body: 'Bad.\nVery.' }],
    ['a fix of its line', { fix: { startLine: 11, endLine: 11, text: 'zwei' } }, { replacement: 'zwei' }],
    [
      'a fix of more lines',
      { fix: { startLine: 10, endLine: 12, text: '' } },
      { startLine: 10, endLine: 12, quote: 'one\ntwo\nthree', replacement: '' },
    ],
    ['a fix of other lines', { fix: { startLine: 12, endLine: 12, text: 'x' } }, {}],
  ])('quotes the file for %s', (_, change_, expected) => {
    expect(placeResults([raw(change_)], [change], files)).toEqual({
      findings: [finding(expected)],
      outside: 0,
      refused: 0,
    });
  });

  it('counts what lies outside the change, and what lies nowhere', () => {
    const results = [
      raw({ path: 'b.ts' }),
      raw({ startLine: 9, endLine: 9 }),
      raw({ startLine: 14, endLine: 14 }),
    ];
    expect(placeResults([...results, raw({ endLine: 900 })], [change], files)).toEqual({
      findings: [],
      outside: 3,
      refused: 1,
    });
  });

  it('keeps what is said twice once', () => {
    expect(placeResults([raw(), raw({ message: 'Again.' })], [change], files).findings).toEqual([finding()]);
  });

  it('keeps nothing that cannot be stored', () => {
    const result = raw({ rule: '\0', message: 'a\0b', fix: { startLine: 11, endLine: 11, text: 'x\0' } });
    expect(placeResults([result], [change], files).findings).toEqual([
      finding({ rule: 'finding', title: 'ab', body: 'ab', replacement: 'x' }),
    ]);
    const nul = new Map([['a.ts', splitLines(text.replace('two', 't\0o'))]]);
    expect(placeResults([raw()], [change], nul)).toEqual({ findings: [], outside: 0, refused: 1 });
  });

  it('quotes the diff where the file cannot be read whole', () => {
    expect(placeResults([raw(), raw({ startLine: 9 })], [change], new Map([['a.ts', null]]))).toEqual({
      findings: [finding()],
      outside: 0,
      refused: 1,
    });
  });
});
