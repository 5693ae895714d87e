import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import type { SandboxUser } from '../container/container-spec.ts';
import { hostCommand } from '../host-command.ts';
import type { Snapshots } from '../port.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { sandboxUser } from '../sandbox-user.ts';
import { createKeeper, standsAsMade, treeOf } from './kept-directory.ts';
import { createRoomCheck, type MakeRoom, makeKept, prepareHome } from './make-kept.ts';
import { listTree } from './mirror-reader.ts';
import { makeSyntheticRepository, refreshIndex } from './synthetic-repository.ts';
import { writeTree } from './write-tree.ts';

/**
 * Time of every file of a snapshot, seconds: long before its index, which then has no need to look into a file to
 * know that it is as it was; and the same for all, so that no file looks newer than what was made of it.
 */
const madeAt = 1_000_000_000;

export interface SnapshotsOptions {
  readonly dir: string;
  /** Who owns the files; by default the one of {@link sandboxUser}. */
  readonly user?: SandboxUser;
  readonly log?: SandboxLog;
  /** Called before one is made where the disk is full, and after each. */
  readonly makeRoom?: MakeRoom;
}

/**
 * Snapshots under `dir` (made if missing, for the worker alone), which several processes may share:
 *
 *     <repository id>/<commit>/tree           the files, and a one-commit `.git`
 *     <repository id>/<commit>/skipped.json   what the commit holds and the tree does not, with the reason
 *
 * and what kept-directory.ts says. Files belong to the sandbox user, who may write them: in an overlay they are only
 * ever the lower layer, and what is written goes to a layer of the attempt's own. Once per process a snapshot is held
 * against its digest, and one that does not match is made anew. Fails with `commit_missing`, `git_failed`, or
 * `sandbox_unavailable` where the disk is full.
 */
export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const root = resolve(options.dir);
  const user = options.user ?? sandboxUser();
  const keeper = createKeeper();

  async function settle(
    home: string,
    place: string,
    mirrorDir: string,
    commit: string,
    signal: AbortSignal,
  ): Promise<void> {
    const warn = () =>
      options.log?.warn({ snapshot: place }, 'a snapshot is not as it was made: it is made anew');
    if (await standsAsMade(place, signal, warn)) return;
    await prepareHome(home, options.makeRoom);
    const onWritten = await createRoomCheck(home, options.makeRoom);
    const write = (temporary: string) =>
      make(temporary, { mirror: resolve(mirrorDir), commit, user, onWritten }, signal);
    await makeKept(place, signal, write, options.makeRoom);
  }

  return {
    async ensure(repository, commit, signal) {
      if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) throw new TypeError(`not a commit id: ${commit}`);
      const home = join(root, String(repository.id));
      const place = join(home, commit);
      return await keeper(place, signal, (shared) =>
        settle(home, place, repository.mirrorDir, commit, shared),
      );
    },
  };
}

async function make(
  temporary: string,
  of: {
    readonly mirror: string;
    readonly commit: string;
    readonly user: SandboxUser;
    readonly onWritten: (bytes: number) => Promise<void>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { mirror, commit, user, onWritten } = of;
  const options = { ...hostCommand, cancelSignal: signal } as const;
  const root = treeOf(temporary);
  await mkdir(root, { recursive: true, mode: 0o755 });
  const entries = await listTree(mirror, commit, signal);
  const { written, skipped } = await writeTree(root, mirror, entries, signal, onWritten);
  const tree = await makeSyntheticRepository(join(root, '.git'), mirror, written, signal);
  await writeFile(join(temporary, 'skipped.json'), `${JSON.stringify(skipped, null, 2)}\n`);
  await execa('chmod', ['-R', '--', 'u=rwX,go=rX', root], options);
  if (process.getuid?.() === 0)
    await execa('chown', ['-R', '-h', '--', `${user.uid}:${user.gid}`, root], options);
  await execa('find', [root, '-exec', 'touch', '--no-dereference', `--date=@${madeAt}`, '{}', '+'], options);
  // Last, since it remembers what a file's inode said.
  await refreshIndex(root, tree, user, signal);
}
