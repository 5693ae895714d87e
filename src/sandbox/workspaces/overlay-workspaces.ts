import { chmod, chown, mkdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchfleetError } from '../../domain/failure.ts';
import type { SandboxUser } from '../container/container-spec.ts';
import { engineProblem } from '../container/docker-host.ts';
import { harvestUpper } from '../harvest/harvest.ts';
import { removeTree } from '../remove-tree.ts';
import { diskUse } from './disk-use.ts';
import { keepTree } from './keep-tree.ts';
import { mountOverlay, optionProblem, overlayOptions, unmountBelow } from './overlay-mount.ts';
import { type VolumeRemover, volumeName } from './workspace-volumes.ts';
import {
  listWorkspaces,
  newWorkspaceId,
  type Workspace,
  type WorkspaceBase,
  type WorkspaceMount,
} from './workspaces.ts';

/** Makes workspaces of one mode. */
export interface WorkspaceMaker {
  create(base: WorkspaceBase, signal: AbortSignal, id?: string): Promise<Workspace>;
}

export interface MakerPlace {
  /** Directory of all workspaces, made if missing; canonical. */
  readonly root: string;
  readonly worker: string;
  readonly user: SandboxUser;
}

/**
 * Workspaces as overlays, of which nothing is copied but what is written to:
 *
 *     <id>/         nobody but the worker may enter
 *       lower0      symlink to the snapshot
 *       lower1      symlink to the prepared layer, where there is one
 *       upper/      what was written
 *       work/       the kernel's
 *       merged/     where it is mounted, if the worker does that
 *
 * With symlinks, paths of any length and letters can be layers. Snapshot and prepared layer must be the sandbox user's
 * and writable for it, though nothing writes to them: the kernel asks their modes. Fails with `sandbox_unavailable`.
 */
export function createOverlayWorkspaces(place: MakerPlace): WorkspaceMaker {
  return {
    create: (base, signal, id = newWorkspaceId(place.worker)) =>
      make(place, id, base, signal, async ({ dir, layers }) => {
        const merged = join(dir, 'merged');
        // Whoever meets it without its mount (another mount namespace) can do nothing with it.
        await mkdir(merged, { mode: 0o000 });
        await mountOverlay(dir, overlayOptions(layers, 'upper', 'work'), merged, signal);
        return {
          mount: { kind: 'bind', dir: merged },
          detach: () => unmountBelow(dir),
          removeDirectory: removeTree,
        };
      }),
  };
}

/** The same, mounted by the engine when the container starts. */
export function createVolumeWorkspaces(
  place: MakerPlace,
  by: { readonly removeVolume: VolumeRemover; readonly removeDirectory: (dir: string) => Promise<void> },
): WorkspaceMaker {
  return {
    create: (base, signal, id = newWorkspaceId(place.worker)) =>
      make(place, id, base, signal, async ({ id, dir, layers }) => {
        // The engine hands the options on as they are.
        const problem = optionProblem(dir);
        if (problem !== null) throw new Error(`no volume can be made of an overlay where ${problem}`);
        const absolute = (name: string) => join(dir, name);
        const o = overlayOptions(layers.map(absolute), absolute('upper'), absolute('work'));
        const options = { type: 'overlay', device: 'overlay', o };
        return {
          mount: { kind: 'volume', name: volumeName(id), options },
          detach: () => by.removeVolume(id),
          removeDirectory: by.removeDirectory,
        };
      }),
  };
}

/** The directories that overlays below `root` stand on, whoever made them: as long as one is there, it needs them. */
export async function layersInUse(root: string): Promise<ReadonlySet<string>> {
  const inUse = new Set<string>();
  for (const { id } of await listWorkspaces(root)) {
    for (const name of ['lower0', 'lower1']) {
      const layer = await readlink(join(root, id, name)).catch(() => null);
      if (layer !== null) inUse.add(layer);
    }
  }
  return inUse;
}

async function make(
  { root, user }: MakerPlace,
  id: string,
  { snapshot, prepared }: WorkspaceBase,
  signal: AbortSignal,
  attach: (made: {
    readonly id: string;
    readonly dir: string;
    readonly layers: readonly string[];
  }) => Promise<{
    readonly mount: WorkspaceMount;
    readonly detach: () => Promise<void>;
    readonly removeDirectory: (dir: string) => Promise<void>;
  }>,
): Promise<Workspace> {
  const dir = join(root, id);
  const upper = join(dir, 'upper');
  const layers = prepared ? ['lower1', 'lower0'] : ['lower0'];
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await symlink(snapshot, join(dir, 'lower0'));
    if (prepared) await symlink(prepared, join(dir, 'lower1'));
    for (const made of [upper, join(dir, 'work')]) {
      await mkdir(made);
      // After the fact, for the umask has no say in it.
      await chmod(made, 0o755);
      if (process.getuid?.() === 0) await chown(made, user.uid, user.gid);
    }
    const { mount, detach, removeDirectory } = await attach({ id, dir, layers });
    return {
      id,
      mount,
      use: (abort, enough) => diskUse(upper, abort, enough),
      harvest: (abort) => harvestUpper({ upper, snapshot, prepared }, abort),
      async keep(to) {
        await detach();
        await keepTree(upper, to);
      },
      async remove() {
        await detach();
        await removeDirectory(dir);
      },
    };
  } catch (thrown) {
    await unmountBelow(dir);
    await removeTree(dir);
    signal.throwIfAborted();
    throw new PatchfleetError('sandbox_unavailable', `no overlay could be made: ${engineProblem(thrown)}`, {
      cause: thrown,
    });
  }
}
