import { randomBytes } from 'node:crypto';
import { access, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { hostCommand } from './host-command.ts';
import { listTree } from './mirror-reader.ts';
import type { Snapshots } from './port.ts';
import { removeTree } from './remove-tree.ts';
import { createSharedWork } from './shared-work.ts';
import { makeSyntheticRepository } from './synthetic-repository.ts';
import { writeTree } from './write-tree.ts';

/** A directory under construction older than this belongs to a worker that died, ms. */
const abandonedMs = 24 * 60 * 60 * 1000;
const underConstruction = '.tmp-';

/**
 * Snapshots under `dir` (made if missing), which several processes may share:
 *
 *     <repository id>/<commit>/tree           the files, and a one-commit `.git`; nobody may write
 *     <repository id>/<commit>/skipped.json   what the commit holds and the tree does not, with the reason
 *
 * Made in a directory beside it and renamed into place when whole. Fails with `commit_missing` or `git_failed`.
 */
export function createSnapshots({ dir }: { dir: string }): Snapshots {
  const root = resolve(dir);
  const once = createSharedWork<void>();

  return {
    async ensure(repository, commit, signal) {
      if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) throw new TypeError(`not a commit id: ${commit}`);
      const home = join(root, String(repository.id));
      const place = join(home, commit);
      const tree = join(place, 'tree');
      if (!(await exists(tree))) {
        await once(place, signal, (shared) => make(home, place, repository.mirrorDir, commit, shared));
      }
      return tree;
    },
  };
}

async function make(
  home: string,
  place: string,
  mirrorDir: string,
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const mirror = resolve(mirrorDir);
  await mkdir(home, { recursive: true, mode: 0o755 });
  await removeAbandoned(home);
  const temporary = join(
    home,
    `${underConstruction}${commit.slice(0, 12)}-${randomBytes(6).toString('hex')}`,
  );
  const tree = join(temporary, 'tree');
  await mkdir(tree, { recursive: true, mode: 0o755 });
  try {
    const { written, skipped } = await writeTree(
      tree,
      mirror,
      await listTree(mirror, commit, signal),
      signal,
    );
    await makeSyntheticRepository(join(tree, '.git'), mirror, written, signal);
    await writeFile(join(temporary, 'skipped.json'), `${JSON.stringify(skipped, null, 2)}\n`);
    await execa('chmod', ['-R', '--', 'u=rX,go=rX', tree], { ...hostCommand, cancelSignal: signal });
    await rename(temporary, place);
  } catch (thrown) {
    await removeTree(temporary);
    signal.throwIfAborted();
    // Another process was faster: its snapshot is as good.
    if (!(await exists(join(place, 'tree')))) throw thrown;
  }
}

async function removeAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(underConstruction)) continue;
    const age = await stat(join(home, name)).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > abandonedMs) await removeTree(join(home, name));
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
