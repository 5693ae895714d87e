import { randomBytes } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SandboxUser } from './container-spec.ts';
import { hostCommand } from './host-command.ts';
import { removeTree } from './remove-tree.ts';

/** Writable directories made from snapshots. The interface says nothing of how: copies now. */
export interface Workspaces {
  /** A fresh directory with the snapshot's contents, writable by the sandbox user. */
  create(snapshot: string, attemptId: string, signal: AbortSignal): Promise<{ dir: string }>;
  /** Removes it, whatever is in it. Does not mind when it is gone. */
  remove(dir: string): Promise<void>;
  /** Every workspace there is, also those that other processes made. */
  all(): Promise<{ dir: string; attemptId: string }[]>;
}

/** Between the attempt's id and what makes the directory unique. */
const separator = '@';

/** Workspaces as plain copies under `root` (made if missing); copy-on-write where the file system can. */
export function createWorkspaces(root: string, user: SandboxUser): Workspaces {
  return {
    async create(snapshot, attemptId, signal) {
      if (!/^[\w-]{1,100}$/.test(attemptId)) throw new TypeError(`not an attempt id: ${attemptId}`);
      await mkdir(root, { recursive: true, mode: 0o700 });
      const dir = join(root, `${attemptId}${separator}${randomBytes(4).toString('hex')}`);
      const options = { ...hostCommand, cancelSignal: signal } as const;
      try {
        await execa('cp', ['-a', '--reflink=auto', '--no-target-directory', '--', snapshot, dir], options);
        // -R follows no symlink; -h changes links themselves.
        await execa('chmod', ['-R', '--', 'u+w', dir], options);
        if (process.getuid?.() === 0)
          await execa('chown', ['-R', '-h', '--', `${user.uid}:${user.gid}`, dir], options);
      } catch (thrown) {
        await removeTree(dir);
        signal.throwIfAborted();
        throw thrown;
      }
      return { dir };
    },

    remove: removeTree,

    async all() {
      const names = await readdir(root).catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code === 'ENOENT') return [];
        throw thrown;
      });
      return names.flatMap((name) => {
        const at = name.lastIndexOf(separator);
        return at < 1 ? [] : [{ dir: join(root, name), attemptId: name.slice(0, at) }];
      });
    },
  };
}
