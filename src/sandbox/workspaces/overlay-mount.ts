import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { hostCommand } from '../host-command.ts';

/** Mounting overlays by the programs of the host: node has no mount(2). */

/**
 * What the defaults of kernels and distributions differ in. `userxattr`: marks are attributes that the owner of the
 * files may read. No redirects, no metadata alone: what is in an upper directory is whole (ADR 0018).
 */
export const pinnedOptions = [
  ...['userxattr', 'index=off', 'xino=off', 'redirect_dir=nofollow', 'metacopy=off'],
] as const;

/** Options of the mount itself; what an agent makes is no device and gives nobody's rights. */
const mountFlags = ['nosuid', 'nodev'] as const;

/** All options for an overlay of these directories. Of `lower` the first lies on top. */
export const overlayOptions = (lower: readonly string[], upper: string, work: string): string =>
  [
    ...mountFlags,
    `lowerdir=${lower.join(':')}`,
    `upperdir=${upper}`,
    `workdir=${work}`,
    ...pinnedOptions,
  ].join(',');

/** Mounts an overlay at `target`. All paths but that may be relative to `home`, and should be: see {@link optionProblem}. */
export async function mountOverlay(
  home: string,
  options: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const args = ['-t', 'overlay', '-o', options, 'patchfleet', target];
  const how = { ...hostCommand, cwd: home, cancelSignal: signal, reject: false } as const;
  const { failed, stderr, shortMessage } = await execa('mount', args, how);
  signal.throwIfAborted();
  if (failed) throw new Error(stderr || shortMessage);
}

/** Why a path cannot be among the options of an overlay; null: it can. Escapes differ between kernels and programs. */
export function optionProblem(path: string): string | null {
  const [found] = /[,:\\"\p{Cc}]/u.exec(path) ?? [];
  return found === undefined ? null : `the path ${JSON.stringify(path)} has a ${JSON.stringify(found)} in it`;
}

/** Where something is mounted at a directory or below it, as this process sees it; the last mounted first. */
export async function mountsBelow(directory: string): Promise<string[]> {
  return mountPoints(await readFile('/proc/self/mountinfo', 'utf8'))
    .filter((point) => point === directory || point.startsWith(`${directory}/`))
    .reverse();
}

/** Mount points in the order of mounting. Blanks, line breaks and backslashes are octal there. */
export function mountPoints(mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const point = line.split(' ')[4];
    if (point === undefined) return [];
    const bytes = point.replace(/\\([0-7]{3})/g, (_, octal) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    return [bytes];
  });
}

/** Unmounts all that is mounted at a directory or below it: lazily where somebody still holds it. */
export async function unmountBelow(directory: string): Promise<void> {
  for (const point of await mountsBelow(directory)) {
    const options = { ...hostCommand, reject: false } as const;
    const { exitCode } = await execa('umount', ['--no-canonicalize', '--', point], options);
    if (exitCode !== 0) await execa('umount', ['--no-canonicalize', '--lazy', '--', point], options);
  }
  const [left] = await mountsBelow(directory);
  if (left !== undefined) throw new Error(`${left} cannot be unmounted`);
}
