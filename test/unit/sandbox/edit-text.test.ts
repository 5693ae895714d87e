import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editText } from '../../../sandbox/edit-text.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

const file = ['function a() {', '  if (x) {', '    return 1;', '  }', '}', '', 'function b() {', '}', ''];
const text = file.join('\n');

describe('editText', () => {
  it.each([
    ['exactly', text, '    return 1;', '    return 2;', text.replace('return 1', 'return 2'), 3],
    ['within a line', text, 'x', 'y', text.replace('x', 'y'), 2],
    ['to nothing', text, '    return 1;\n', '', text.replace('    return 1;\n', ''), 3],
    ['a regular expression’s characters', 'a.b\n', 'a.b', '$& $1', '$& $1\n', 1],
    [
      'without the indentation it has',
      text,
      'if (x) {\nreturn 1;\n}',
      'if (y) {\n  return 2;\n}',
      text.replace('x', 'y').replace('    return 1', '    return 2'),
      2,
    ],
    [
      'with tabs for blanks',
      text,
      '\tif (x) {\n\t\treturn 1;\n',
      '\tif (x) {\n\t  return 3;\n',
      text.replace('return 1', 'return 3'),
      2,
    ],
    ['in a file with CRLF', 'a\r\nb\r\nc\r\n', 'a\nb\n', 'a\nB\n', 'a\r\nB\r\nc\r\n', 1],
    ['a whole CRLF line away', 'a\r\nb\r\nc\r\n', 'a\nb\n', '', 'c\r\n', 1],
    ['the last line without an end', 'a\nb  c', 'b c\n', 'd\n', 'a\nd', 2],
    ['behind a byte order mark', '\ufeffa\nb', 'a\nb', 'c', '\ufeffc', 1],
    ['in the middle of a line', 'f( a,b );\n', 'a, b', 'c, d', 'f( c, d );\n', 1],
  ])('replaces %s', (_, before, old, replacement, after, line) => {
    expect(editText(before, old, replacement)).toEqual({ text: after, edited: true, line, explanation: '' });
  });

  it.each([
    ['}\n', '}', 4, /^The text occurs 3 times, at lines 4, 5, 8\. Give more/],
    ['a\n  b\na\nb\n', 'a\nb\n\n', 1, /^The text, white space not counted, occurs 2 times, at lines 1, 3\./],
    ['aaa', 'aa', 1, /^The text occurs 2 times/],
  ])('does not choose between several places: %#', (before, old, line, explanation) => {
    const where = before === '}\n' ? text : before;
    expect(editText(where, old, 'x')).toEqual({
      text: null,
      edited: false,
      line,
      explanation: expect.stringMatching(explanation),
    });
  });

  it('shows the nearest text with its lines', () => {
    expect(editText(text, '  if (z) {\n    return 7;\n  }', 'x')).toEqual({
      text: null,
      edited: false,
      line: 2,
      explanation:
        'The text does not occur. The nearest in the file, from line 2:\n2:   if (x) {\n3:     return 1;\n4:   }',
    });
  });

  it.each([
    ['nothing like it', null, /nothing in the file is like it/],
    ['', null, /is empty/],
    ['function b() {', 7, /stands there already/],
  ])('says why there is no edit: %j', (old, line, explanation) => {
    expect(editText(text, old, 'function b() {')).toMatchObject({
      edited: false,
      line,
      explanation: expect.stringMatching(explanation),
    });
  });

  it('is quick with a large file', () => {
    const large = Array.from({ length: 40_000 }, (_, index) => `const value${index} = call(${index}, x);`);
    const old = `${large.slice(30_000, 30_030).join('\n')}\nnot there`;
    const took = cpuTimeOf(() => {
      expect(editText(large.join('\n'), old, 'x')).toMatchObject({ edited: false, line: 30_001 });
    });
    expect(took).toBeLessThan(10_000);
  });

  it('changes nothing but the place, and what it says it did is what it did', () => {
    const piece = fc.array(fc.constantFrom('a', 'b', ' ', '\n', '\t', '\r\n', 'ab', '}'), { maxLength: 12 });
    fc.assert(
      fc.property(piece, piece, piece, piece, (head, old, tail, replacement) => {
        const [before, sought, after, put] = [head, old, tail, replacement].map((parts) => parts.join(''));
        const whole = `${before}${sought}${after}`;
        const result = editText(whole, sought ?? '', put ?? '');
        // It occurs, so an edit is exact.
        expect(result.text).toBe(result.edited ? `${before}${put}${after}` : null);
      }),
    );
  });
});
