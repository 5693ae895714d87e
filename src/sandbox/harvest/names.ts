import { isUtf8 } from 'node:buffer';
import { isGitName } from '../../domain/git-names.ts';
import { displayPath } from '../../domain/parse-patch.ts';
import type { RefusalRule } from '../../domain/patch.ts';

/** Bytes of a path that is still looked at; Linux takes 4,096 with the directory before it. */
const maxPathBytes = 3000;

/** Why nothing of this path can be in a patch, or null. */
export function pathProblem(path: Buffer): { rule: RefusalRule; reason: string } | null {
  if (!isUtf8(path)) return { rule: 'path', reason: 'has a name that is not UTF-8' };
  if (path.length > maxPathBytes) return { rule: 'path', reason: `has a path of ${path.length} bytes` };
  const text = path.toString('utf8');
  // What ends a line, or is shown as something else, can be told from no other name in a list or a patch.
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) {
    return { rule: 'path', reason: 'has a name with a line break or another control character' };
  }
  const parts = text.split('/');
  if (parts.includes('.git')) {
    return { rule: 'git_directory', reason: 'is a Git repository inside the workspace' };
  }
  return parts.some(isGitName)
    ? { rule: 'path', reason: 'has a name that some systems take for `.git`' }
    : null;
}

/** A path for people: bytes that are no text and control characters escaped, long ones cut. */
export function shownPath(path: Buffer): string {
  const text = displayPath(path).replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > 500 ? `${text.slice(0, 250)}[...]${text.slice(-200)}` : text;
}
