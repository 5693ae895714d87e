import { describe, expect, it } from 'vitest';
import { codeSpan, defuseMarkdown, head, plainLine } from '../../../src/publishing/defuse.ts';

describe('defuseMarkdown', () => {
  it.each([
    ['a mention', 'ask @octocat', 'ask @\u200boctocat'],
    ['a team', '@org/team', '@\u200borg/team'],
    ['an entity that makes an @', '&#64;octocat &commat;x', '&#\u200b64;octocat &\u200bcommat;x'],
    ['a hidden comment', 'a <!-- b -->', 'a <\u200b!-- b -->'],
    ['an image', '![x](https://evil.test/?q)', '!\u200b[x](https://evil.test/?q)'],
    ['a command', '/patchfleet cancel', '/\u200bpatchfleet cancel'],
    ['a command by mention', '@PatchFleet cancel', '@\u200bPatchFleet cancel'],
    ['a reference', 'fixes #12', 'fixes #\u200b12'],
    ['text turned around', 'a\u202eb', 'ab'],
    ['ordinary Markdown', '**a** `b < c` 1 < 2\n\n- x', '**a** `b < c` 1 < 2\n\n- x'],
  ])('parts %s', (_, text, expected) => {
    expect(defuseMarkdown(text)).toBe(expected);
  });
});

describe('plainLine', () => {
  it.each([
    ['a | b\nc', 'a &#124; b c'],
    [
      '<b>`x`</b> [l](u) *i* _u_ ~s~ $m$',
      '&lt;b&gt;\\`x\\`&lt;/b&gt; \\[l\\](u) \\*i\\* \\_u\\_ \\~s\\~ \\$m\\$',
    ],
    ['--> @octo', '--&gt; @\u200bocto'],
    ['\ud83d', '\ufffd'],
  ])('shows %j as it is', (text, expected) => {
    expect(plainLine(text, 100)).toBe(expected);
  });

  it('cuts on a character boundary and says so', () => {
    expect(plainLine(`${'a'.repeat(4)}😀😀`, 6)).toBe('aaaa…');
  });
});

describe('codeSpan', () => {
  it.each([
    ['app/[id]/page.tsx', '`app/[id]/page.tsx`'],
    ['a\nb', '`a\\nb`'],
    ['a`b', '``a`b``'],
    ['`', '`` ` ``'],
    ['-x\u0007', '`-x\\u0007`'],
    ['packages/patchfleet/a', '`packages/\u200bpatchfleet/a`'],
    ['a\u2028@b', '`a\\u2028@b`'],
  ])('of %j', (path, expected) => {
    expect(codeSpan(path)).toBe(expected);
  });
});

describe('head', () => {
  it('never splits a pair', () => {
    expect(head('a😀', 2)).toBe('a');
    expect(head('a😀', 3)).toBe('a😀');
    expect(head('😀', 0)).toBe('');
  });
});
