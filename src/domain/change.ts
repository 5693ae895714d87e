/** The changed files of a commit range, as read from git. Shapes only; reading lives in `planning/`. */

export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type_changed';

export interface DiffLine {
  readonly kind: 'context' | 'added' | 'deleted';
  /** Text without its line ending `\n`; a `\r` before it is kept. */
  readonly text: string;
  /** 1-based; null for added lines. */
  readonly oldLine: number | null;
  /** 1-based; null for deleted lines. */
  readonly newLine: number | null;
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
