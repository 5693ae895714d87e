import { execa } from 'execa';
import { hostCommand } from '../host-command.ts';

/**
 * Moves a directory that an agent or a setup wrote, to be read by others from now on. Nobody but its owner may write
 * there then, nothing in it gives anybody's rights, and its owner may read all of it: overlays ask for that.
 */
export async function keepTree(from: string, to: string): Promise<void> {
  // Another user than root cannot change the kernel's own marks of what was removed, and need not.
  const reject = process.getuid?.() === 0;
  await execa('chmod', ['-R', '--', 'u+rwX,go-w,a-st', from], { ...hostCommand, reject });
  await execa('mv', ['--no-target-directory', '--', from, to], hostCommand);
}
