import { hasOwnKernel, type RuntimeChoice } from './container/runtime.ts';

/** What the kernel does with the memory of a program that crashed: one setting for the machine and all its sandboxes. */
export const corePatternFile = '/proc/sys/kernel/core_pattern';

/**
 * What is to be said of the setting of a machine that runs sandboxes, with its remedy; null: nothing. A pattern that
 * begins with `@` (Linux 6.16 and later) hands what crashed to a program of the machine, whatever the limits of its
 * container. One that begins with `|` does not: see `core` in container-spec.ts.
 */
export function crashHandlerNote(corePattern: string, choice: RuntimeChoice): string | null {
  const pattern = corePattern.trim();
  if (!pattern.startsWith('@') || hasOwnKernel(choice)) return null;
  return `Recommended: programs that crash in sandboxes are handed to a program on this machine (${corePatternFile} is \`${pattern}\`). Set \`kernel.core_pattern=core\` by a file in /etc/sysctl.d, and turn off the service that sets it otherwise (as systemd-coredump does); or set \`sandbox.isolation: strict\`.`;
}
