import { execa } from 'execa';
import { hostCommand } from './host-command.ts';

/**
 * Removes a directory and all below it, whatever an agent left there: directories without permissions, names
 * that are not UTF-8, any depth. Never follows a symlink. Does not mind when it is gone. `rm` and `chmod` walk
 * by directory handles, so that even a swap under way cannot lead them out. What is mounted in it is not entered: then
 * this rejects.
 */
export async function removeTree(directory: string): Promise<void> {
  const options = { ...hostCommand, reject: false } as const;
  const first = await execa('rm', ['-rf', '--one-file-system', '--', directory], options);
  if (first.exitCode === 0) return;
  await execa('chmod', ['-R', '--', 'u+rwX', directory], options);
  await execa('rm', ['-rf', '--one-file-system', '--', directory], { ...options, reject: true });
}
