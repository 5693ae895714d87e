import { statfs } from 'node:fs/promises';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import { engineProblem } from '../container/docker-host.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { boundReached, type FileSystemRoom, nextLook, runsOut } from './disk-bounds.ts';
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
  const { bsize, blocks, bavail, files, ffree } = await statfs(directory);
  return {
    size: { bytes: bsize * blocks, entries: files },
    free: { bytes: bsize * bavail, entries: ffree },
  };
}

/** How often the file system is looked at while anybody may write, ms: it can be taken faster than it can be written to. */
const guardMs = 500;
const whyEnded = {
  bytes: 'the disk of the workspaces runs full, and no other attempt wrote more to it',
  entries: 'the disk of the workspaces runs out of files, and no other attempt made more of them',
};

/** Watches over what the attempts of this process write. `room`: on the file system of their workspaces. */
export function createDiskWatch(
  room: () => Promise<FileSystemRoom>,
  limits: DiskUse,
  log: SandboxLog,
): DiskWatch {
  const watched = new Set<Entry>();
  /** Ended for the sake of the others, and not gone yet. */
  const ending = new Set<Entry>();

  let guarding: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function guardOnce(): Promise<void> {
    if (ending.size > 0) return;
    const lack = runsOut(await room());
    if (lack === null) return;
    await Promise.all([...watched].map((entry) => entry.refresh().catch(() => {})));
    const [largest] = [...watched].sort((a, b) => b.use[lack] - a.use[lack]);
    if (largest === undefined || ending.size > 0) return;
    ending.add(largest);
    largest.end(whyEnded[lack]);
  }
  /** What nobody can see (a file that was unlinked and is still open) fills the disk as well: one at a time goes. */
  const guard = () => {
    guarding ??= guardOnce().finally(() => {
      guarding = null;
    });
    return guarding;
  };
  const watch = (entry: Entry) => {
    watched.add(entry);
    // Where that fails, the next look at a workspace says so.
    timer ??= setInterval(() => void guard().catch(() => {}), guardMs).unref();
  };
  const leave = (entry: Entry) => {
    watched.delete(entry);
    if (watched.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    start(workspace, onReached) {
      const stop = new AbortController();
      let next: NodeJS.Timeout | undefined;
      const entry: Entry = {
        use: { bytes: 0, entries: 0 },
        async refresh() {
          entry.use = await workspace.use(stop.signal, limits);
        },
        end(detail) {
          if (stop.signal.aborted || !watched.has(entry)) return;
          leave(entry);
          clearTimeout(next);
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
        next = setTimeout(() => void look(), nextLook(entry.use, limits)).unref();
      };
      watch(entry);
      schedule();
      return () => {
        stop.abort();
        leave(entry);
        ending.delete(entry);
        clearTimeout(next);
      };
    },
  };
}
