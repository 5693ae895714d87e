import type { Severity } from '../domain/finding.ts';

/** What a tool said, before it is held against the files. */
export interface RawResult {
  /** Relative to the workspace. */
  readonly path: string;
  /** 1-based, inclusive. */
  readonly startLine: number;
  readonly endLine: number;
  readonly severity: Severity;
  readonly rule: string;
  readonly message: string;
  /** Whole lines that a fix of the tool replaces; null where it has none, or one within lines. */
  readonly fix: { readonly startLine: number; readonly endLine: number; readonly text: string } | null;
}

/** A path as a tool prints it, relative to the workspace: absolute paths below it and a leading `./` are taken off. */
export function relativePath(path: string, workspace: string): string {
  const root = workspace.endsWith('/') ? workspace : `${workspace}/`;
  const inside = path.startsWith(root) ? path.slice(root.length) : path;
  return inside.replace(/^(?:\.\/)+/, '');
}
