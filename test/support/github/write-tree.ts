import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from './git.ts';

/** One file of a tree: a path in Latin-1 (one character a byte, since git's names are bytes), mode and id. */
export interface TreeFile {
  readonly mode: string;
  readonly sha: string;
}

let indexes = 0;

/** All files of a tree or commit, by path. */
export async function readFiles(dir: string, tree: string): Promise<Map<string, TreeFile>> {
  const rows = (await git(dir, ['ls-tree', '-r', '-z', '--full-tree', tree])).toString('latin1').split('\0');
  const files = new Map<string, TreeFile>();
  for (const row of rows.filter(Boolean)) {
    const tab = row.indexOf('\t');
    const [mode = '', , sha = ''] = row.slice(0, tab).split(' ');
    files.set(row.slice(tab + 1), { mode, sha });
  }
  return files;
}

/** Takes a path, and all below it, away. False where there was nothing. */
export function removePath(files: Map<string, TreeFile>, path: string): boolean {
  let removed = files.delete(path);
  for (const known of [...files.keys()]) {
    if (known.startsWith(`${path}/`)) removed = files.delete(known) || removed;
  }
  return removed;
}

/** Puts a file at a path; whatever stood in its way, a directory of that name or a file above it, goes. */
export function putFile(files: Map<string, TreeFile>, path: string, file: TreeFile): void {
  removePath(files, path);
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    files.delete(path.slice(0, at));
  }
  files.set(path, file);
}

/** Writes the trees of all files with an index of its own, without a work tree. Returns the root's id. */
export async function writeFiles(dir: string, files: ReadonlyMap<string, TreeFile>): Promise<string> {
  const index = join(dir, `index-${process.pid}-${++indexes}`);
  const env = { GIT_INDEX_FILE: index };
  const rows = [...files].map(([path, { mode, sha }]) => `${mode} ${sha}\t${path}\0`).join('');
  try {
    await git(dir, ['read-tree', '--empty'], undefined, env);
    await git(dir, ['update-index', '-z', '--index-info'], Buffer.from(rows, 'latin1'), env);
    return (await git(dir, ['write-tree'], undefined, env)).toString('utf8').trim();
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}
