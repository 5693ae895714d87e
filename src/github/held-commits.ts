import { stat } from 'node:fs/promises';

/**
 * Remembers which commits a mirror was seen to hold, so that the attempts of a task ask git once and not each: a
 * mirror never lets go of a commit. A directory that was put in its place is another mirror.
 */
export function createHeldCommits(): {
  /** Runs `fetch` unless all of them are known to be there. */
  require(gitDir: string, commits: readonly string[], fetch: () => Promise<void>): Promise<void>;
} {
  const held = new Map<string, Set<string>>();
  return {
    require: async (gitDir, commits, fetch) => {
      const { ino, birthtimeMs } = await stat(gitDir);
      const mirror = `${gitDir} ${ino} ${birthtimeMs}`;
      const known = held.get(mirror) ?? new Set();
      if (commits.every((commit) => known.has(commit))) return;
      await fetch();
      for (const commit of commits) known.add(commit);
      held.set(mirror, known);
    },
  };
}
