import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SandboxUser } from './container-spec.ts';
import { harvestWorkspace } from './harvest.ts';
import { hostCommand } from './host-command.ts';
import { removeTree } from './remove-tree.ts';
import { listWorkspaces, type Workspaces, workspaceId } from './workspaces.ts';

/** Workspaces as plain copies under `root` (made if missing), for where no overlay can be had. */
export function createCopiedWorkspaces(root: string, worker: string, user: SandboxUser): Workspaces {
  return {
    async create({ snapshot, prepared }, signal) {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const id = workspaceId(worker, randomBytes(8).toString('hex'));
      const dir = join(root, id);
      const options = { ...hostCommand, cancelSignal: signal } as const;
      const source = prepared ?? snapshot;
      try {
        await execa('cp', ['-a', '--reflink=auto', '--no-target-directory', '--', source, dir], options);
        // -R follows no symlink; -h changes links themselves.
        await execa('chmod', ['-R', '--', 'u+w', dir], options);
        if (process.getuid?.() === 0)
          await execa('chown', ['-R', '-h', '--', `${user.uid}:${user.gid}`, dir], options);
      } catch (thrown) {
        await removeTree(dir);
        signal.throwIfAborted();
        throw thrown;
      }
      return {
        id,
        mount: { dir },
        harvest: (abort) => harvestWorkspace({ workspace: dir, snapshot }, abort),
        keep: (place) => rename(dir, place),
        remove: () => removeTree(dir),
      };
    },
    all: () => listWorkspaces(root),
    remove: (id) => removeTree(join(root, id)),
  };
}
