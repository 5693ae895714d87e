import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { HarvestEntry } from '../port.ts';
import type { FileSystemRoom } from './disk-bounds.ts';
import type { DiskUse } from './disk-use.ts';

/**
 * How workspaces are made of a snapshot. `overlay`: the worker mounts one over it; `volume`: the engine does, when
 * the container starts; `copy`: all is copied.
 */
export type WorkspaceMode = 'overlay' | 'volume' | 'copy';

/** What the engine mounts into a container. */
export type WorkspaceMount =
  /** A directory of the host. */
  | { readonly kind: 'bind'; readonly dir: string }
  /** A volume that the engine's `local` driver makes and mounts by these options. */
  | { readonly kind: 'volume'; readonly name: string; readonly options: Readonly<Record<string, string>> };

/** A writable directory for one sandbox. */
export interface Workspace {
  readonly id: string;
  readonly mount: WorkspaceMount;
  /** What was written to it so far; more than `enough` need not be counted. */
  use(signal: AbortSignal, enough: DiskUse): Promise<DiskUse>;
  /** What is not as the snapshot has it; see harvest.ts. Only after its container has ended. */
  harvest(signal: AbortSignal): Promise<HarvestEntry[]>;
  /**
   * Moves what it holds to `dir`, which is not there yet: the upper directory of an overlay, with the marks of what was
   * removed, else everything. Only after its container has ended.
   */
  keep(dir: string): Promise<void>;
  /** Removes it, whatever is in it. Does not mind when it is gone. Only after its container has ended. */
  remove(): Promise<void>;
}

/** What a workspace is made of. */
export interface WorkspaceBase {
  readonly snapshot: string;
  /** A directory whose contents lie over the snapshot's; without marks of an overlay. */
  readonly prepared?: string | null;
}

export interface Workspaces {
  /** How they are made; found out at the first use. Fails with `sandbox_unavailable` where none works. */
  mode(signal: AbortSignal): Promise<WorkspaceMode>;
  /**
   * A fresh one with the contents of snapshot and prepared layer, writable by the sandbox user; `id` by
   * {@link newWorkspaceId}. Fails with `sandbox_unavailable`.
   */
  create(base: WorkspaceBase, signal: AbortSignal, id?: string): Promise<Workspace>;
  /** What the file system of the workspaces has. */
  room(): Promise<FileSystemRoom>;
  /** Every workspace there is, also those that other processes made, in whatever mode. */
  all(): Promise<{ id: string; worker: string }[]>;
  /** Removes one by its id, in whatever mode it was made. */
  remove(id: string): Promise<void>;
}

/** Between the worker's name and what makes the workspace unique. */
const separator = '@';

/** The directory below `root` of a workspace made by that worker. */
export function workspaceId(worker: string, unique: string): string {
  if (!/^[\w.-]{1,150}$/.test(worker)) throw new TypeError(`not the name of a worker: ${worker}`);
  return `${worker}${separator}${unique}`;
}

export function newWorkspaceId(worker: string): string {
  return workspaceId(worker, randomBytes(8).toString('hex'));
}

/** The worker whose workspace that is; null: it is none. */
export function workerOf(id: string): string | null {
  const at = id.lastIndexOf(separator);
  return at < 1 ? null : id.slice(0, at);
}

/** The workspaces below `root`, by the names of their directories. */
export async function listWorkspaces(root: string): Promise<{ id: string; worker: string }[]> {
  const names = await readdir(root).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw thrown;
  });
  return names.flatMap((id) => {
    const worker = workerOf(id);
    return worker === null ? [] : [{ id, worker }];
  });
}
