import { describe, expect, it } from 'vitest';
import { changesOf, splitLines } from '../../../src/domain/change.ts';
import { displayPath, parsePatch } from '../../../src/domain/parse-patch.ts';

const zero = '0'.repeat(40);
const [one, two] = ['1'.repeat(40), '2'.repeat(40)];

/** Output of `git diff --raw --patch -z`, put together by hand. */
function output(raw: readonly string[], patch: string): Buffer {
  return Buffer.from(`${raw.map((record) => `${record}\0`).join('')}\0${patch}`, 'latin1');
}

const header = `diff --git a/a.txt b/a.txt\nindex ${one}..${two} 100644\n--- a/a.txt\n+++ b/a.txt\n`;
const modified = [`:100644 100644 ${one} ${two} M`, 'a.txt'];

describe('parsePatch', () => {
  it('takes a count that is left out as 1', () => {
    const { changes } = parsePatch(output(modified, `${header}@@ -1 +1 @@\n-old\n+new\n`));
    expect(changes).toEqual([
      {
        path: 'a.txt',
        oldPath: null,
        status: 'modified',
        oldMode: '100644',
        newMode: '100644',
        oldBlob: one,
        newBlob: two,
        binary: false,
        additions: 1,
        deletions: 1,
        hunks: [
          {
            oldStart: 1,
            oldLines: 1,
            newStart: 1,
            newLines: 1,
            lines: [
              { kind: 'deleted', text: 'old', oldLine: 1, newLine: null },
              { kind: 'added', text: 'new', oldLine: null, newLine: 1 },
            ],
          },
        ],
      },
    ]);
  });

  it('counts lines off by the header, so that content which looks like a diff is content', () => {
    const body = '--- a/x\n+++ b/x\n+diff --git a/y b/y\n+@@ -1 +1 @@\n';
    const { changes } = parsePatch(output(modified, `${header}@@ -1,1 +1,3 @@\n${body}`));
    expect(changes[0]?.hunks[0]?.lines.map((line) => [line.kind, line.text])).toEqual([
      ['deleted', '-- a/x'],
      ['added', '++ b/x'],
      ['added', 'diff --git a/y b/y'],
      ['added', '@@ -1 +1 @@'],
    ]);
  });

  it('tells on which side the final newline is missing', () => {
    const body = '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n';
    const { changes } = parsePatch(output(modified, header + body));
    expect(changes[0]?.hunks[0]?.lines).toEqual([
      { kind: 'deleted', text: 'a', oldLine: 1, newLine: null, noFinalNewline: true },
      { kind: 'added', text: 'a', oldLine: null, newLine: 1 },
    ]);
  });

  it('skips a file whose changed lines are not UTF-8, and reads on', () => {
    const raw = [...modified, `:100644 100644 ${one} ${two} M`, 'b.txt'];
    const patch = `${header}@@ -1 +1 @@\n-caf\xe9\n+cafe\n${header}@@ -1 +1 @@ caf\xe9\n-a\n+b\n`;
    const { changes, skipped } = parsePatch(output(raw, patch));
    expect(skipped).toEqual([{ path: 'a.txt', reason: 'not UTF-8 text' }]);
    expect(changes.map((change) => change.path)).toEqual(['b.txt']);
  });

  it('skips submodules and names that are not UTF-8, by name', () => {
    const raw = [`:160000 160000 ${one} ${two} M`, 'lib', `:000000 100644 ${zero} ${one} A`, 'caf\xe9.txt'];
    const patch =
      `diff --git a/lib b/lib\nindex ${one}..${two} 160000\n--- a/lib\n+++ b/lib\n@@ -1 +1 @@\n-Subproject commit ${one}\n+Subproject commit ${two}\n` +
      `diff --git "a/caf\\351.txt" "b/caf\\351.txt"\nnew file mode 100644\nindex ${zero}..${one}\n`;
    expect(parsePatch(output(raw, patch))).toEqual({
      changes: [],
      skipped: [
        { path: 'lib', reason: 'submodule' },
        { path: 'caf\\xe9.txt', reason: 'its name is not UTF-8' },
      ],
    });
  });

  it('reads a change of type from its two parts', () => {
    const raw = [`:100644 120000 ${one} ${two} T`, 'a'];
    const patch =
      `diff --git a/a b/a\ndeleted file mode 100644\nindex ${one}..${zero}\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n` +
      `diff --git a/a b/a\nnew file mode 120000\nindex ${zero}..${two}\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n`;
    const { changes } = parsePatch(output(raw, patch));
    expect(changes.map(({ status, additions, deletions }) => ({ status, additions, deletions }))).toEqual([
      { status: 'type_changed', additions: 1, deletions: 1 },
    ]);
  });

  it('reads no output as no change', () => {
    expect(parsePatch(Buffer.alloc(0))).toEqual({ changes: [], skipped: [] });
  });

  it.each([
    ['a missing patch', output(modified, '')],
    ['a patch too many', output(modified, `${header}@@ -1 +1 @@\n-a\n+b\n${header}`)],
    ['a hunk that is cut off', output(modified, `${header}@@ -1,2 +1 @@\n-a\n`)],
    ['an unknown status', output([`:100644 100644 ${one} ${two} U`, 'a'], '')],
  ])('refuses %s instead of guessing', (_, bytes) => {
    expect(() => parsePatch(bytes)).toThrow('could not be read');
  });
});

describe('displayPath', () => {
  it('writes odd bytes out only where the name is not UTF-8', () => {
    expect(displayPath(Buffer.from('ünï\n.txt'))).toBe('ünï\n.txt');
    expect(displayPath(Buffer.from([0x61, 0xff, 0x0a]))).toBe('a\\xff\\x0a');
  });
});

describe('splitLines', () => {
  it.each([
    ['', []],
    ['\n', ['']],
    ['a', ['a']],
    ['a\r\nb\rc\n', ['a\r', 'b\rc']],
  ])('numbers the lines of %j as diffs do', (text, lines) => {
    expect(splitLines(text)).toEqual(lines);
  });
});

describe('changesOf', () => {
  const { changes } = parsePatch(output(modified, `${header}@@ -1 +1 @@\n-a\n+b\n`));
  it('finds the changes of a row in its order', () => {
    expect(changesOf(['a.txt'], changes)).toEqual(changes);
  });
  it('fails when the row was planned for other commits', () => {
    expect(() => changesOf(['b.txt'], changes)).toThrow('did not change: "b.txt"');
  });
});
