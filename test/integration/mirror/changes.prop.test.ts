import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anchorInDiff, relocate } from '../../../src/domain/anchor.ts';
import { type FileChange, splitLines } from '../../../src/domain/change.ts';
import type { Finding } from '../../../src/domain/finding.ts';
import { createMirrors } from '../../../src/github/mirror.ts';
import type { Mirror } from '../../../src/github/port.ts';
import { applyHunks } from './apply-hunks.ts';
import { git, type TreeFile, writeHistory } from './build-repository.ts';

/** Lines made to be mistaken for parts of a diff, and the characters that editors and parsers stumble over. */
const line = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      'a',
      'b',
      'a',
      ' indented',
      '\ttab',
      'crlf\r',
      'lone\rreturn',
      'é ∑ 🎉',
      '\u2028',
      '\ufeffbom',
      '\f',
    ],
    ...['--- a/a.txt', '+++ b/a.txt', 'diff --git a/a.txt b/a.txt', '@@ -1 +1 @@', '@@ -0,0 +1,2 @@ x'],
    ...[
      '\\ No newline at end of file',
      'index 000..111',
      'Binary files a and b differ',
      '+',
      '-',
      '- ',
      ':100644',
    ],
  ),
  fc.string({ maxLength: 6, unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')),
  fc.integer({ min: 0, max: 99 }).map((n) => `line ${n}`),
);
const text = fc
  .tuple(fc.array(line, { maxLength: 40 }), fc.boolean(), fc.nat(9))
  .map(([lines, ended, rare]) => [rare === 0 ? ['nul\0', ...lines] : lines, ended] as const)
  .map(([lines, ended]) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''));

/** The text after some edits: cuts, insertions, and now and then another end. */
const edits = fc.array(fc.tuple(fc.nat(60), fc.nat(3), fc.array(line, { maxLength: 4 })), { maxLength: 4 });
function edit(old: string, changes: readonly (readonly [number, number, string[]])[], chop: boolean): string {
  const lines = old.split('\n');
  for (const [at, cut, inserted] of changes) lines.splice(at % (lines.length + 1), cut, ...inserted);
  const edited = lines.join('\n');
  return chop && edited.endsWith('\n') ? edited.slice(0, -1) : edited;
}

const names = [
  ...['a.txt', 'dir/b c.txt', 'app/[id]/page.tsx', '-dash', 'new\nline', 'quote"s', 'tab\there', 'ünï/∑.txt'],
  ...[
    'back\\slash',
    ' lead',
    'trail ',
    ':(top)x',
    '*',
    '日本',
    'dir/../no'.replace('/../', '/..'),
    '\x7f\x01',
  ],
];
const fileEdit = fc.record({
  old: fc.option(text, { freq: 4 }),
  edits,
  chop: fc.boolean(),
  fate: fc.constantFrom('kept', 'kept', 'kept', 'deleted', 'moved', 'executable'),
});
const trees = fc.tuple(...names.map((name) => fc.option(fileEdit, { freq: 2 }).map((of) => ({ name, of }))));

interface Pair {
  readonly before: Map<string, string>;
  readonly after: Map<string, string>;
  readonly executable: Set<string>;
}

const pair = trees.map((files): Pair => {
  const result: Pair = { before: new Map(), after: new Map(), executable: new Set() };
  for (const { name, of } of files) {
    if (of === null) continue;
    if (of.old !== null) result.before.set(name, of.old);
    const next = edit(of.old ?? '', of.edits, of.chop);
    if (of.fate === 'deleted') continue;
    result.after.set(of.fate === 'moved' ? `moved/${name}` : name, next);
    if (of.fate === 'executable') result.executable.add(name);
  }
  return result;
});

let dir: string;
let mirror: Mirror;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'patchfleet-changes-'));
  const mirrors = createMirrors({ dir, serverUrl: 'https://unused.invalid', readToken: async () => '' });
  mirror = await mirrors.open({ installationId: 1, id: 1, owner: 'o', name: 'r' });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function commit({ before, after, executable }: Pair): [string, string] {
  const tree = (files: Map<string, string>, modes: ReadonlySet<string>): TreeFile[] =>
    [...files].map(([path, content]) => ({ path, content, mode: modes.has(path) ? '100755' : '100644' }));
  const [base = '', head = ''] = writeHistory(mirror.dir, [tree(before, new Set()), tree(after, executable)]);
  return [base, head];
}

/** Additions and deletions by new path, as git counts them; null for binary files. */
function numstat(base: string, head: string): Map<string, [number, number] | null> {
  const fields = git(mirror.dir, ['diff', '--numstat', '-z', '-M', base, head]).toString('utf8').split('\0');
  const counts = new Map<string, [number, number] | null>();
  for (let at = 0; at < fields.length - 1; at += 1) {
    const [added = '', deleted = '', path = ''] = (fields[at] ?? '')
      .split('\t', 2)
      .concat((fields[at] ?? '').split('\t').slice(2).join('\t'));
    let name = path;
    if (path === '') {
      name = fields[at + 2] ?? '';
      at += 2;
    }
    counts.set(name, added === '-' ? null : [Number(added), Number(deleted)]);
  }
  return counts;
}

function findingAt(change: FileChange, side: Finding['side'], lineNumber: number, quote: string): Finding {
  return {
    path: change.path,
    side,
    startLine: lineNumber,
    endLine: lineNumber,
    severity: 'error',
    confidence: 1,
    rule: 'r',
    title: 't',
    body: '',
    quote,
    replacement: null,
  };
}

describe('changes read from git', () => {
  it('turn every old text into exactly the new one, with the counts git gives', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(pair, async (files) => {
        const [base, head] = commit(files);
        const { changes, skipped } = await mirror.changes(base, head, { maxBytes: 1 << 24 });
        expect(skipped).toEqual([]);
        const counts = numstat(base, head);
        expect(changes.map((change) => change.path).toSorted()).toEqual([...counts.keys()].toSorted());
        for (const change of changes) {
          seen.add(`${change.status}${change.binary ? ' binary' : change.hunks.length > 0 ? ' text' : ''}`);
          // Without a change of content git prints no patch, so whether it is binary stays unknown.
          if (change.oldBlob === change.newBlob) expect(change.hunks).toEqual([]);
          else
            expect(change.binary ? null : [change.additions, change.deletions]).toEqual(
              counts.get(change.path),
            );
          if (change.binary) continue;
          const old = change.status === 'added' ? '' : files.before.get(change.oldPath ?? change.path);
          const now = change.status === 'deleted' ? '' : files.after.get(change.path);
          expect(applyHunks(old ?? '', change)).toBe(now);
        }
      }),
      { numRuns: 60 },
    );
    // The property says nothing about what was never generated.
    const [kinds, needed] = [[...seen], ['added text', 'deleted text', 'modified text', 'renamed text']];
    expect(kinds).toEqual(expect.arrayContaining([...needed, 'renamed', 'modified binary']));
  });

  it('are the same for some paths as among all', async () => {
    await fc.assert(
      fc.asyncProperty(pair, fc.infiniteStream(fc.boolean()), async (files, coin) => {
        const [base, head] = commit(files);
        const { changes } = await mirror.changes(base, head, { maxBytes: 1 << 24 });
        const some = changes.filter(() => coin.next().value === true);
        const paths = some.map((change) => change.path);
        const limited = await mirror.changes(base, head, { maxBytes: 1 << 24, paths });
        expect(limited.changes).toEqual(some);
      }),
      { numRuns: 20 },
    );
  });

  it('give anchors that are in the diff for its lines alone, and that relocate to themselves', async () => {
    await fc.assert(
      fc.asyncProperty(pair, async (files) => {
        const [base, head] = commit(files);
        const { changes } = await mirror.changes(base, head, { maxBytes: 1 << 24 });
        for (const change of changes) {
          const lines = change.hunks.flatMap((hunk) => hunk.lines);
          const right = new Set(lines.map((each) => each.newLine));
          const left = new Set(lines.map((each) => each.oldLine));
          const newLines = splitLines(files.after.get(change.path) ?? '');
          for (let n = 1; n <= newLines.length + 2; n += 1) {
            expect(anchorInDiff(change, 'RIGHT', n, n)).toBe(right.has(n));
            expect(anchorInDiff(change, 'LEFT', n, n)).toBe(left.has(n));
          }
          for (const each of lines) {
            const [side, number] =
              each.newLine === null ? (['LEFT', each.oldLine] as const) : (['RIGHT', each.newLine] as const);
            const finding = findingAt(change, side, number ?? 0, each.text.replace(/\r$/, ''));
            expect(relocate(finding, change, newLines)).toEqual({ finding });
            expect(relocate(finding, change, null)).toEqual({ finding });
          }
        }
      }),
      { numRuns: 20 },
    );
  });
});
