import { statfs } from 'node:fs/promises';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import { engineProblem } from '../container/docker-host.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { boundReached, type FileSystemRoom, nextLook, runsFull } from './disk-bounds.ts';
import type { DiskUse } from './disk-use.ts';

/** What is watched: a workspace that an agent writes to. */
export interface Watched {
  readonly id: string;
  use(signal: AbortSignal, enough: DiskUse): Promise<DiskUse>;
}

export interface DiskWatch {
  /**
   * Looks at a workspace until it is told to stop. `onReached` is called once, when more was written than may be, or
   * when the file system runs full and no other workspace has more.
   */
  start(workspace: Watched, onReached: (error: PatchfleetError) => void): () => void;
}

interface Entry {
  use: DiskUse;
  /** Looks now. */
  refresh(): Promise<void>;
  end(detail: string): void;
}

/** What an attempt may write. */
export const diskLimits = ({ workspace_mib, workspace_files }: SandboxConfig): DiskUse => ({
  bytes: workspace_mib * 1024 * 1024,
  entries: workspace_files,
});

/** Room on the file system of a directory. */
export async function roomOf(directory: string): Promise<FileSystemRoom> {
  const { bsize, blocks, bavail } = await statfs(directory);
  return { size: bsize * blocks, free: bsize * bavail };
}

/** Watches over what the attempts of this process write. `room`: on the file system of their workspaces. */
export function createDiskWatch(
  room: () => Promise<FileSystemRoom>,
  limits: DiskUse,
  log: SandboxLog,
): DiskWatch {
  const watched = new Set<Entry>();
  /** Ended for the sake of the others, and not gone yet. */
  const ending = new Set<Entry>();

  /** What nobody can see (a file that was unlinked and is still open) fills the disk as well: one at a time goes. */
  async function guard(): Promise<void> {
    if (ending.size > 0 || !runsFull(await room())) return;
    await Promise.all([...watched].map((entry) => entry.refresh().catch(() => {})));
    const [largest] = [...watched].sort((a, b) => b.use.bytes - a.use.bytes);
    if (largest === undefined || ending.size > 0) return;
    ending.add(largest);
    largest.end('the disk of the workspaces runs full, and no other attempt wrote more to it');
  }

  return {
    start(workspace, onReached) {
      const stop = new AbortController();
      let timer: NodeJS.Timeout | null = null;
      const entry: Entry = {
        use: { bytes: 0, entries: 0 },
        async refresh() {
          entry.use = await workspace.use(stop.signal, limits);
        },
        end(detail) {
          if (stop.signal.aborted) return;
          watched.delete(entry);
          clearTimeout(timer ?? undefined);
          timer = null;
          onReached(new PatchfleetError('disk_exhausted', detail));
        },
      };
      const look = async () => {
        try {
          await entry.refresh();
          const reached = boundReached(entry.use, limits);
          if (reached !== null) return entry.end(reached);
          await guard();
        } catch (thrown) {
          if (stop.signal.aborted) return;
          const problem = engineProblem(thrown);
          log.warn({ workspace: workspace.id, problem }, 'it cannot be seen what an attempt writes');
        }
        if (!stop.signal.aborted && watched.has(entry)) schedule();
      };
      const schedule = () => {
        timer = setTimeout(() => void look(), nextLook(entry.use, limits));
        timer.unref();
      };
      watched.add(entry);
      schedule();
      return () => {
        stop.abort();
        watched.delete(entry);
        ending.delete(entry);
        clearTimeout(timer ?? undefined);
      };
    },
  };
}
