import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import { readKept } from '../bases/kept-directory.ts';
import type { Engine } from '../container/docker-host.ts';
import { removeTree } from '../remove-tree.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { createSharedWork } from '../shared-work.ts';
import { cleanWork } from './clean-work.ts';
import { createCopiedWorkspaces } from './copied-workspaces.ts';
import { tooFull } from './disk-bounds.ts';
import { roomOf } from './disk-watch.ts';
import { unmountBelow } from './overlay-mount.ts';
import {
  createOverlayWorkspaces,
  createVolumeWorkspaces,
  type MakerPlace,
  type WorkspaceMaker,
} from './overlay-workspaces.ts';
import { tryWorkspace } from './try-workspace.ts';
import { unseenRoot } from './unseen-root.ts';
import { createVolumeRemover, workspacesWithVolume } from './workspace-volumes.ts';
import { listWorkspaces, type WorkspaceBase, type WorkspaceMode, type Workspaces } from './workspaces.ts';

export interface WorkspacesOptions extends Omit<MakerPlace, 'root'> {
  readonly config: SandboxConfig;
  readonly engine: Engine;
  readonly instance: string;
  /** Directory of all workspaces; made if missing. */
  readonly root: string;
  readonly log: SandboxLog;
}

/** In the order in which they are tried. */
const modes: readonly WorkspaceMode[] = ['overlay', 'volume', 'copy'];

/** Workspaces in the mode that the operator asked for, or the first that works here. */
export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { config, engine, instance, worker, user, log } = options;
  const docker = engine.requests;
  const removeVolume = createVolumeRemover(docker, instance);
  const once = createSharedWork<WorkspaceMode>();
  /** What the engine mounted for a worker that is not root has something of root's in it. */
  const removeDirectory = async (dir: string) => {
    if (process.getuid?.() === 0) return await removeTree(dir);
    await removeTree(dir).catch(async () => {
      await cleanWork(options, dir);
      await removeTree(dir);
    });
  };
  let found: WorkspaceMode | null = null;
  let copiedForOwner = false;

  /** Mounts are told by canonical paths alone. */
  const canonical = async () => {
    const root = resolve(options.root);
    await mkdir(root, { recursive: true, mode: 0o700 });
    return await realpath(root);
  };
  const makerOf = (mode: WorkspaceMode, root: string): WorkspaceMaker => {
    const place = { root, worker, user };
    if (mode === 'overlay') return createOverlayWorkspaces(place);
    return mode === 'volume'
      ? createVolumeWorkspaces(place, { removeVolume, removeDirectory })
      : createCopiedWorkspaces(place);
  };

  async function choose(signal: AbortSignal): Promise<WorkspaceMode> {
    const root = await canonical();
    const trial = { root, worker, user, config, engine, instance };
    const asked = config.workspaces;
    const unseen = await unseenRoot(trial, root);
    if (unseen !== null) throw new PatchfleetError('sandbox_unavailable', unseen);
    if (asked === 'copy') return asked;
    if (asked !== 'auto') {
      const problem = await tryWorkspace(makerOf(asked, root), trial, signal);
      if (problem === null) return asked;
      throw new PatchfleetError('sandbox_unavailable', `sandbox.workspaces is ${asked}, but ${problem}`);
    }
    const problems: string[] = [];
    for (const mode of modes) {
      const problem = await tryWorkspace(makerOf(mode, root), trial, signal);
      if (problem === null) {
        log.info?.({ mode, problems }, `workspaces are made by ${mode}`);
        return mode;
      }
      problems.push(`${mode}: ${problem}`);
    }
    throw new PatchfleetError(
      'sandbox_unavailable',
      `no way to make a workspace works: ${problems.join('; ')}`,
    );
  }

  async function mode(signal: AbortSignal): Promise<WorkspaceMode> {
    found ??= await once('mode', signal, choose);
    return found;
  }

  /** A snapshot that was written before overlays were thought of, or by another user, can still be copied. */
  async function modeFor({ snapshot }: WorkspaceBase, signal: AbortSignal): Promise<WorkspaceMode> {
    const best = await mode(signal);
    if (best === 'copy') return best;
    const { uid, mode: bits } = await lstat(snapshot);
    if (uid === user.uid && (bits & 0o200) !== 0) return best;
    const problem = `the snapshot ${snapshot} is not the sandbox user's to write`;
    if (config.workspaces !== 'auto') {
      throw new PatchfleetError('sandbox_unavailable', `${problem}; remove it, it is made again`);
    }
    if (!copiedForOwner) log.warn({ snapshot }, `${problem}: its workspaces are copies`);
    copiedForOwner = true;
    return 'copy';
  }

  return {
    mode,
    room: async () => await roomOf(await canonical()),
    async create(base, signal, id) {
      const root = await canonical();
      await requireRoom(root, 0);
      const by = await modeFor(base, signal);
      if (by === 'copy') await requireRoom(root, await spaceOf(base));
      return await makerOf(by, root).create(base, signal, id);
    },
    async all() {
      const withVolume = await workspacesWithVolume(docker, instance);
      const all = [...(await listWorkspaces(resolve(options.root))), ...withVolume];
      return [...new Map(all.map((one) => [one.id, one])).values()];
    },
    async remove(id) {
      const dir = join(await canonical(), id);
      await removeVolume(id);
      await unmountBelow(dir);
      await removeDirectory(dir);
    },
  };
}

/** `wanted`: bytes that are about to be taken. */
async function requireRoom(root: string, wanted: number): Promise<void> {
  const { size, free } = await roomOf(root);
  const full = tooFull({ size, free: { ...free, bytes: Math.max(0, free.bytes - wanted) } });
  if (full === null) return;
  const copied = wanted === 0 ? '' : ` after ${Math.ceil(wanted / (1024 * 1024))} MiB are copied`;
  throw new PatchfleetError(
    'sandbox_unavailable',
    `the disk of the workspaces is too full: ${full}${copied}`,
  );
}

/** What a copy takes, bytes, as far as that is known. */
async function spaceOf({ snapshot, prepared }: WorkspaceBase): Promise<number> {
  const trees = prepared ? [snapshot, prepared] : [snapshot];
  const kept = await Promise.all(trees.map((tree) => readKept(dirname(tree))));
  return kept.reduce((sum, one) => sum + (one?.bytes ?? 0), 0);
}
