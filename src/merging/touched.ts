import type { PatchEntry } from '../domain/patch.ts';
import type { TreeDifference, TreeFile } from '../github/port.ts';

/** Paths that differ between two trees, and the directories above them. All paths are bytes as latin1. */
export interface Touched {
  /** With what stands there in the second tree; null: nothing does. */
  readonly files: Map<string, TreeFile | null>;
  readonly directories: Set<string>;
}

/** `touched` with the differences of one more step added to it. */
export function touch(differences: readonly TreeDifference[], touched = nothing()): Touched {
  for (const { path, now } of differences) {
    touched.files.set(path, now);
    for (const above of directoriesOf(path)) touched.directories.add(above);
  }
  return touched;
}

function nothing(): Touched {
  return { files: new Map(), directories: new Set() };
}

export function differencesOf(entries: readonly PatchEntry[]): TreeDifference[] {
  return entries.map(({ path, before, file }) => ({
    path: Buffer.from(path).toString('latin1'),
    before,
    now: file === null ? null : { mode: file.mode, blob: file.blob },
  }));
}

/** Whether one of them is above that path or below it. */
export function clashes({ files, directories }: Touched, path: string): boolean {
  return directories.has(path) || directoriesOf(path).some((above) => files.has(above));
}

export function same(a: TreeFile | null, b: TreeFile | null): boolean {
  return a?.mode === b?.mode && a?.blob === b?.blob;
}

function directoriesOf(path: string): string[] {
  const above: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    above.push(path.slice(0, at));
  return above;
}
