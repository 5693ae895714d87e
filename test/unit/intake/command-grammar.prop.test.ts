import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommands } from '../../../src/intake/command-grammar.ts';

/** Text made of what means something to the grammar. */
const pieces = fc.constantFrom(
  '/patchfleet review',
  '@patchfleet cancel now',
  '/patchfleet',
  '`',
  '``',
  '```',
  '~~~',
  '>',
  '> ',
  '- ',
  '1. ',
  '<!--',
  '-->',
  '<pre>',
  '</pre>',
  '    ',
  '\t',
  '\\',
  '\n',
  '\n\n',
  '\r\n',
  '# ',
  '---',
  'word',
  ' ',
  'ß😀',
);
const markdown = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(''));
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), markdown);
const command = fc.constantFrom('/patchfleet review', '@patchfleet cancel', '  /patchfleet status x');
/** Lines around a command that open and close nothing by themselves. */
const plain = fc.array(fc.constantFrom('word', 'two words', '', '- item', 'a * b'), { maxLength: 4 });

describe('the command grammar, for any text', () => {
  it('always answers, with at most three distinct commands of plain verbs', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const commands = parseCommands(text);
        expect(commands.length).toBeLessThanOrEqual(3);
        for (const { verb } of commands) expect(verb).toMatch(/^[a-z][a-z-]*$/);
        expect(new Set(commands.map((c) => JSON.stringify(c))).size).toBe(commands.length);
      }),
    );
  });

  it('finds a command that stands alone between blank lines of plain text', () => {
    fc.assert(
      fc.property(plain, command, plain, (before, line, after) => {
        expect(parseCommands([...before, '', line, '', ...after].join('\n'))).toHaveLength(1);
      }),
    );
  });

  it.each([
    ['a fence of backticks', (body: string) => `\`\`\`\`\`\`\`\n${body}\n\`\`\`\`\`\`\``],
    ['a fence of tildes', (body: string) => `~~~~~~~ info\n${body}\n~~~~~~~`],
    [
      'a block quote',
      (body: string) =>
        body
          .split('\n')
          .map((line) => `> ${line}`)
          .join('\n'),
    ],
    [
      'indented code',
      (body: string) =>
        body
          .split('\n')
          .map((line) => `    ${line}`)
          .join('\n'),
    ],
    // Taking `-->` out of `----->>` would leave one.
    ['an HTML comment', (body: string) => `<!--\n${body.replaceAll('>', '')}`],
    [
      'inline code',
      (body: string) =>
        `a \`\`\`\`\`\` ${body.replace(/\s*[\r\n]\s*/g, ' ').replaceAll('`', '')} \`\`\`\`\`\``,
    ],
  ])('finds nothing that stands in %s', (_name, wrap) => {
    fc.assert(
      fc.property(plain, markdown, command, markdown, (before, head, line, tail) => {
        const body = `${head}\n${line}\n${tail}`
          .replaceAll('\r', '')
          .replaceAll('```````', '')
          .replaceAll('~~~~~~~', '');
        expect(parseCommands([...before, '', wrap(body)].join('\n'))).toEqual([]);
      }),
    );
  });

  it('reads the same with any line ends', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const unix = text.replaceAll('\r\n', '\n');
        expect(parseCommands(unix.replaceAll('\n', '\r\n'))).toEqual(parseCommands(unix));
      }),
    );
  });
});
