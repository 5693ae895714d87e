import { describe, expect, it } from 'vitest';
import { parseCommands } from '../../../src/intake/command-grammar.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

const review = [{ verb: 'review', args: '' }];

describe('the command grammar', () => {
  it.each([
    ['a slash command', '/patchfleet review', review],
    ['a mention', '@patchfleet review', review],
    ['any case of name and verb', '/PatchFleet ReView', review],
    [
      'arguments in their own case',
      '/patchfleet review src/API  now',
      [{ verb: 'review', args: 'src/API  now' }],
    ],
    ['up to three spaces before it', '   /patchfleet review', review],
    ['a full stop after the verb', '@patchfleet review.', review],
    ['a line in the middle of a text', 'Thanks.\n/patchfleet review\nBye', review],
    ['CRLF line ends', 'Thanks.\r\n\r\n/patchfleet review\r\n', review],
    ['the name alone, which asks for help', '/patchfleet', [{ verb: 'help', args: '' }]],
    ['an unknown verb', '/patchfleet reviev', [{ verb: 'reviev', args: '' }]],
    ['the same command twice, once', '/patchfleet review\n/patchfleet review', review],
    [
      'at most three commands',
      ['a', 'b', 'c', 'd'].map((v) => `/patchfleet ${v}`).join('\n'),
      ['a', 'b', 'c'].map((verb) => ({ verb, args: '' })),
    ],
    ['a line after a closed fence', '```\ncode\n```\n/patchfleet review', review],
    ['a line after a shorter fence inside was ignored', '````\n```\n````\n/patchfleet review', review],
    ['a line after a quote and a blank line', '> said\n\n/patchfleet review', review],
    ['a line after a quoted heading', '> # said\n/patchfleet review', review],
    ['a line after a list item that held a fence', '- ```\n  code\n/patchfleet review', review],
    ['a line after an HTML comment', '<!-- note\n-->\n/patchfleet review', review],
    ['a line after an empty HTML comment', '<!-->\n/patchfleet review', review],
    ['a line after an unpaired backtick', 'it`s\n/patchfleet review', review],
    ['a line after an escaped backtick', 'a \\` b\n/patchfleet review\n`', review],
    ['a line after a comment marker in code', '`<!--`\n/patchfleet review', review],
    ['a line after inline code', '`x`\n/patchfleet review', review],
    ['a line after a heading with an unpaired backtick', '# a `\n/patchfleet review\n`', review],
  ])('takes %s', (_name, text, expected) => {
    expect(parseCommands(text)).toEqual(expected);
  });

  it.each([
    ['nothing at all', ''],
    ['prose that names it', 'please use /patchfleet review'],
    ['a mention without a verb', '@patchfleet'],
    ['a path', '/patchfleet/review now'],
    ['an address', 'me@patchfleet review'],
    ['a domain', '@patchfleet.com review'],
    ['a longer name', '/patchfleets review'],
    ['a verb that is no word', '/patchfleet !!'],
    ['a fence', '```\n/patchfleet review\n```'],
    ['a fence with an info string', '```sh title\n/patchfleet review\n```'],
    ['a fence of tildes', '~~~ `x`\n/patchfleet review\n~~~'],
    ['a long fence with a shorter one inside', '`````\n```\n/patchfleet review\n`````'],
    ['a fence closed by the wrong character', '```\n~~~\n/patchfleet review'],
    ['a fence never closed', '```\n/patchfleet review'],
    ['a fence whose closing line carries text', '```\n``` x\n/patchfleet review'],
    ['a fence in a list item', '- ```\n  /patchfleet review\n  ```'],
    ['a fence in a numbered list item', '1. ~~~\n   /patchfleet review'],
    ['indented code', '    /patchfleet review'],
    ['code indented by a tab', '\t/patchfleet review'],
    ['inline code', '`/patchfleet review`'],
    ['inline code over several lines', 'a `\n/patchfleet review\n` b'],
    ['inline code with longer marks', 'a ``\n/patchfleet review ` x\n`` b'],
    ['a block quote', '> /patchfleet review'],
    ['a nested quote', '> > /patchfleet review'],
    ['the line that continues a quote', '> said\n/patchfleet review'],
    ['an HTML comment', '<!--\n/patchfleet review\n-->'],
    ['an HTML comment over blank lines', '<!-- a\n\n/patchfleet review\n\n-->'],
    ['an HTML comment never closed', 'x <!-- a\n\n/patchfleet review'],
    ['the rest of a line that ends a comment', '<!-- a\n--> \n/x\n<!--\n/patchfleet review'],
    ['raw HTML code', '<pre>\n/patchfleet review\n</pre>'],
    ['a raw HTML quote', '<blockquote>\n\n/patchfleet review\n\n</blockquote>'],
    ['code whose mark stands after a comment', '<!-- ` --> `\n/patchfleet review\n`'],
  ])('finds no command in %s', (_name, text) => {
    expect(parseCommands(text)).toEqual([]);
  });

  it('reads the largest comment GitHub takes in no time that grows with its square, whatever it holds', () => {
    const took = cpuTimeOf(() => {
      for (const part of ['`', '` `` ', '<!--', '<code>', '> ', '- ', '\\', '``` a\n', '- - - \n'])
        parseCommands(`/patchfleet review\n${part.repeat(65_000 / part.length)}`);
    });
    // A tenth of a second for all of them on an idle machine.
    expect(took).toBeLessThan(5000);
  });
});
