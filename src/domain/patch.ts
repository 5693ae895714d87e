/** A subtask's output: what it changed against its base commit. Shapes and the one digest; reading and judging live elsewhere. */

/** Modes git knows and an agent may leave behind. Symlinks and submodules are refused before this. */
export type FileMode = '100644' | '100755';

export interface PatchEntry {
  /** Valid UTF-8, relative, without `.`, `..` or `.git` components. */
  readonly path: string;
  /** Null: the file is gone. */
  readonly file: { readonly mode: FileMode; readonly blob: string; readonly bytes: number } | null;
  /** What stood there before; null: nothing did. */
  readonly before: { readonly mode: string; readonly blob: string } | null;
}

/** Entries are sorted by path (bytes). An empty list means that nothing was changed. */
export interface Patch {
  /** The commit the agent worked on. */
  readonly baseCommit: string;
  /** Tree of the base with the entries applied. */
  readonly tree: string;
  /** A local commit of that tree whose one parent is `baseCommit`; it exists in the mirror only. */
  readonly commit: string;
  readonly entries: readonly PatchEntry[];
}

/** What in a workspace was not taken into the patch, and why the whole patch is refused for it. */
export interface Refusal {
  /** As shown to people: escaped where it is not plain text. */
  readonly path: string;
  readonly rule: RefusalRule;
  readonly reason: string;
}

export const refusalRules = [
  'scope',
  'protected',
  'symlink',
  'hard_link',
  'special_file',
  'path',
  'git_directory',
  'mode',
  'submodule',
  'size',
] as const;
export type RefusalRule = (typeof refusalRules)[number];
