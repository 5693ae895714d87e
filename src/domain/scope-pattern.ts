import { isGitName } from './git-names.ts';

/**
 * What is wrong with a pattern of a scope by its spelling alone, or null. Ends a sentence that begins with the
 * pattern.
 */
export function spellingFault(pattern: string): string | null {
  if (pattern.trim() === '') return 'is empty';
  if (pattern.startsWith('/') || /^[A-Za-z]:[\\/]/.test(pattern))
    return 'is absolute; paths are relative to the root of the repository';
  const segments = pattern.split('/');
  if (segments.includes('..')) return 'has "..": it must stay in the repository';
  if (segments.slice(0, -1).includes('') || segments.includes('.')) return 'has an empty or "." segment';
  if (segments.some(isGitName)) return 'is in .git, which is no part of the repository';
  if (pattern.startsWith('!')) return 'is a negation; name what may be written instead';
  if (pattern.includes('\0')) return 'has a NUL character';
  return null;
}
