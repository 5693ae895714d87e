import type { DiffLine, FileChange } from '../../../src/domain/change.ts';

/** A change whose one hunk adds these lines at the top of the file. */
export function makeChange(
  path: string,
  added: readonly string[],
  more: Partial<FileChange> = {},
): FileChange {
  const lines = added.map(
    (text, index): DiffLine => ({ kind: 'added', text, oldLine: null, newLine: index + 1 }),
  );
  const hunk = { oldStart: 0, oldLines: 0, newStart: 1, newLines: lines.length, lines };
  return {
    path,
    oldPath: null,
    status: 'modified',
    oldMode: '100644',
    newMode: '100644',
    oldBlob: '1'.repeat(40),
    newBlob: '2'.repeat(40),
    binary: false,
    additions: lines.length,
    deletions: 0,
    hunks: lines.length === 0 ? [] : [hunk],
    ...more,
  };
}
