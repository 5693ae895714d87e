import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { harvestWorkspace } from '../harvest/harvest.ts';
import { hostCommand } from '../host-command.ts';
import { removeTree } from '../remove-tree.ts';
import { diskUse } from './disk-use.ts';
import { keepTree } from './keep-tree.ts';
import type { MakerPlace, WorkspaceMaker } from './overlay-workspaces.ts';
import { newWorkspaceId } from './workspaces.ts';

/** Workspaces as plain copies, for where no overlay can be had. */
export function createCopiedWorkspaces({ root, worker, user }: MakerPlace): WorkspaceMaker {
  return {
    async create({ snapshot, prepared }, signal, id = newWorkspaceId(worker)) {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const dir = join(root, id);
      const options = { ...hostCommand, cancelSignal: signal } as const;
      try {
        for (const source of prepared ? [snapshot, prepared] : [snapshot]) {
          await execa('cp', ['-a', '--reflink=auto', '--no-target-directory', '--', source, dir], options);
          // -R follows no symlink; -h changes links themselves.
          await execa('chmod', ['-R', '--', 'u+w', dir], options);
        }
        if (process.getuid?.() === 0)
          await execa('chown', ['-R', '-h', '--', `${user.uid}:${user.gid}`, dir], options);
        const atFirst = await diskUse(dir, signal);
        return {
          id,
          mount: { kind: 'bind', dir },
          async use(abort, enough) {
            const { bytes, entries } = await diskUse(dir, abort, {
              bytes: atFirst.bytes + enough.bytes,
              entries: atFirst.entries + enough.entries,
            });
            return {
              bytes: Math.max(0, bytes - atFirst.bytes),
              entries: Math.max(0, entries - atFirst.entries),
            };
          },
          harvest: (abort) => harvestWorkspace({ workspace: dir, snapshot, prepared }, abort),
          keep: (to) => keepTree(dir, to),
          remove: () => removeTree(dir),
        };
      } catch (thrown) {
        await removeTree(dir);
        signal.throwIfAborted();
        throw thrown;
      }
    },
  };
}
