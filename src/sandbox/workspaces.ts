import { readdir } from 'node:fs/promises';
import type { HarvestEntry } from './port.ts';

/** What the engine mounts into a container. */
export interface WorkspaceMount {
  readonly dir: string;
}

/** A writable directory for one sandbox. */
export interface Workspace {
  readonly id: string;
  readonly mount: WorkspaceMount;
  /** What is not as the snapshot has it; see harvest.ts. Only after its container has ended. */
  harvest(signal: AbortSignal): Promise<HarvestEntry[]>;
  /** Moves what was written to `dir`, which is not there yet. Only after its container has ended. */
  keep(dir: string): Promise<void>;
  /** Removes it, whatever is in it. Does not mind when it is gone. */
  remove(): Promise<void>;
}

/** What a workspace is made of. */
export interface WorkspaceBase {
  readonly snapshot: string;
  readonly prepared?: string | null;
}

export interface Workspaces {
  /** A fresh one with the contents of snapshot and prepared layer, writable by the sandbox user. */
  create(base: WorkspaceBase, signal: AbortSignal): Promise<Workspace>;
  /** Every workspace there is, also those that other processes made. */
  all(): Promise<{ id: string; worker: string }[]>;
  /** Removes one by its id. */
  remove(id: string): Promise<void>;
}

/** Between the worker's name and what makes the workspace unique. */
const separator = '@';

/** The directory below `root` of a workspace made by that worker. */
export function workspaceId(worker: string, unique: string): string {
  if (!/^[\w.-]{1,150}$/.test(worker)) throw new TypeError(`not the name of a worker: ${worker}`);
  return `${worker}${separator}${unique}`;
}

/** The workspaces below `root`, by the names of their directories. */
export async function listWorkspaces(root: string): Promise<{ id: string; worker: string }[]> {
  const names = await readdir(root).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw thrown;
  });
  return names.flatMap((id) => {
    const at = id.lastIndexOf(separator);
    return at < 1 ? [] : [{ id, worker: id.slice(0, at) }];
  });
}
