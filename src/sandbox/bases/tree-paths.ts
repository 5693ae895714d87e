import { posix } from 'node:path';

/** What of a tree may be written to a disk. A tree comes from a pull request: it may be built to lead astray. */

/** Bytes of one name, as Linux has it, and of a whole path: it takes 4,096 with the directories before it. */
const nameBytes = 255;
const pathBytes = 3000;

/** Why a path is not written, or null. Git refuses such paths in a checkout, but trees can hold them. */
export function pathProblem(path: Buffer): string | null {
  const text = path.toString('latin1');
  if (text === '' || text.startsWith('/') || text.includes('\0')) return 'is not a relative path';
  if (path.length > pathBytes) return 'has too long a path';
  for (const part of text.split('/')) {
    if (part.length > nameBytes) return 'has too long a name';
    if (part === '' || part === '.' || part === '..') return 'has an empty, `.` or `..` component';
    if (part.toLowerCase() === '.git') return 'has a `.git` component';
  }
  return null;
}

/** Why a symlink is not made, or null: its target must lie in the tree, by the text of both. */
export function symlinkProblem(path: Buffer, target: Buffer): string | null {
  const text = target.toString('latin1');
  if (text === '' || text.includes('\0')) return 'is a symlink without a usable target';
  if (text.startsWith('/')) return 'is a symlink to an absolute path';
  const meant = posix.join(posix.dirname(path.toString('latin1')), text);
  return meant === '..' || meant.startsWith('../') ? 'is a symlink that leads out of the tree' : null;
}
