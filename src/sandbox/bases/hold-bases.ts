import { dirname } from 'node:path';
import type { WorkspaceBase, Workspaces } from '../workspaces/workspaces.ts';
import { noteEveryMs, noteUse } from './kept-directory.ts';

/**
 * As long as there is a workspace, its snapshot and its prepared layer are said to be in use, every minute anew: whoever
 * makes room, in whatever process, leaves them alone. A worker that dies says nothing any more, and needs nobody to
 * clean up after it.
 */
export function holdingBases(workspaces: Workspaces): Workspaces {
  /** By the workspace's id. */
  const held = new Map<string, readonly string[]>();
  let timer: NodeJS.Timeout | null = null;

  const note = async () => {
    for (const place of new Set([...held.values()].flat())) await noteUse(place);
  };
  const hold = (id: string, places: readonly string[]) => {
    held.set(id, places);
    timer ??= setInterval(() => void note(), noteEveryMs).unref();
  };
  const release = (id: string) => {
    held.delete(id);
    if (held.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    ...workspaces,
    async create(base, signal, id) {
      const places = placesOf(base);
      // From when it was asked for: one that is made at this moment may have waited long for its turn.
      for (const place of places) await noteUse(place);
      const workspace = await workspaces.create(base, signal, id);
      hold(workspace.id, places);
      return {
        ...workspace,
        async remove() {
          await workspace.remove();
          release(workspace.id);
        },
      };
    },
    async remove(id) {
      await workspaces.remove(id);
      release(id);
    },
  };
}

function placesOf({ snapshot, prepared }: WorkspaceBase): string[] {
  return [snapshot, ...(prepared ? [prepared] : [])].map((tree) => dirname(tree));
}
