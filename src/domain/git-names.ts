/**
 * Names that some file system takes for `.git`. Git refuses them in its own index, GitHub in pushes; a patch
 * that held one would plant a repository on whoever checks it out.
 */

/** Characters that HFS+ does not see in a name. */
const unseenByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** Whether a component of a path is `.git`, in any case, or one of its disguises on HFS+ and NTFS. */
export function isGitName(component: string): boolean {
  if (component.replace(unseenByHfs, '').toLowerCase() === '.git') return true;
  // NTFS: short names, trailing dots and spaces, streams; a backslash separates there.
  return component.split('\\').some((part) => /^(?:\.git|git~1)[. ]*(?::|$)/i.test(part));
}
