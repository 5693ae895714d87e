import { PatchfleetError } from './failure.ts';

/** The changed files of a commit range, as git tells them. `parse-patch.ts` makes them from git's output. */

export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type_changed';

export interface DiffLine {
  readonly kind: 'context' | 'added' | 'deleted';
  /** Text without its line ending `\n`; a `\r` before it is kept. */
  readonly text: string;
  /** 1-based; null for added lines. */
  readonly oldLine: number | null;
  /** 1-based; null for deleted lines. */
  readonly newLine: number | null;
  /** Present on the last line of a side whose file ends without `\n`. */
  readonly noFinalNewline?: true;
}

export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly DiffLine[];
}

export interface FileChange {
  /** The path after the change (before it, for a deleted file). Always valid UTF-8. */
  readonly path: string;
  /** Set for `renamed` and `copied`. */
  readonly oldPath: string | null;
  readonly status: ChangeStatus;
  /** Six octal digits; `000000` where the side does not exist. */
  readonly oldMode: string;
  readonly newMode: string;
  /** Blob ids (40 or 64 hex digits); all zeros where the side does not exist. */
  readonly oldBlob: string;
  readonly newBlob: string;
  /** The content changed and is not text. False for mode changes and pure renames, whatever the content. */
  readonly binary: boolean;
  readonly additions: number;
  readonly deletions: number;
  /** Empty for binary, mode-only and pure-rename changes. */
  readonly hunks: readonly Hunk[];
}

/** A changed file that no agent reviews, and why, in words for the summary. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** Changes of a commit range, and the files that cannot be shown as such. */
export interface ChangeSet {
  readonly changes: readonly FileChange[];
  readonly skipped: readonly SkippedFile[];
}

/**
 * The changes of a row's `inputs`, in their order. Fails with `internal` when one is not among `changes`:
 * the row was then planned for other commits than the ones that were read.
 */
export function changesOf(inputs: readonly string[], changes: readonly FileChange[]): FileChange[] {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  return inputs.map((path) => {
    const change = byPath.get(path);
    if (change === undefined) {
      throw new PatchfleetError(
        'internal',
        `the row names a file that did not change: ${JSON.stringify(path)}`,
      );
    }
    return change;
  });
}

/** The lines of a file as diffs number them: split at `\n` alone; a final `\n` starts no further line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
