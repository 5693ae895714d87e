import { randomBytes } from 'node:crypto';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchfleetError } from '../../domain/failure.ts';
import { engineProblem, engineStatus } from '../container/docker-host.ts';
import type { HarvestEntry } from '../port.ts';
import { removeTree } from '../remove-tree.ts';
import type { MakerPlace, WorkspaceMaker } from './overlay-workspaces.ts';
import { type OnceOptions, runOnce } from './run-once.ts';
import { type Workspace, workspaceId } from './workspaces.ts';

/** Whether workspaces can be made in a way: one is made, written to and read. */

export type Trial = OnceOptions & MakerPlace;

/** What a container has to do: `seen` is there, a directory is replaced, a file is made. */
const script = (token: string) =>
  `test "$(cat seen)" = ${token} && rm -r d && mkdir d && echo ${token} > d/made`;
const expected = ['d/f deleted', 'd/made file'];

/**
 * Makes one, and lets a container write to it, as sandboxes do: the engine may see other mounts than this process, or
 * be elsewhere, or its runtime may refuse them. The problem, or null. Fails with `sandbox_unavailable` when the engine
 * cannot run the container whatever the workspace.
 */
export async function tryWorkspace(
  maker: WorkspaceMaker,
  trial: Trial,
  signal: AbortSignal,
): Promise<string | null> {
  return await tryOne(maker, trial, signal, async (workspace, token) => {
    try {
      const code = await runOnce(trial, workspace.mount, ['/bin/sh', '-c', script(token)]);
      // Says something of the machine now, and nothing of the way: the next who asks tries again.
      if (code === null) throw new Error('a container that writes two files does not end');
      return code === 0 ? null : 'a container cannot write to it';
    } catch (thrown) {
      const status = engineStatus(thrown);
      // 400 and 500 are what the engine says of a mount that it cannot have.
      if (status === 400 || status === 500) return engineProblem(thrown);
      throw new PatchfleetError('sandbox_unavailable', engineProblem(thrown), { cause: thrown });
    }
  });
}

async function tryOne(
  maker: WorkspaceMaker,
  { root, worker, user }: Trial,
  signal: AbortSignal,
  write: (workspace: Workspace, token: string) => Promise<string | null>,
): Promise<string | null> {
  const token = randomBytes(8).toString('hex');
  // By its name the reaper finds what a death leaves.
  const home = join(root, workspaceId(worker, token));
  const snapshot = join(home, 'snapshot');
  try {
    await mkdir(join(snapshot, 'd'), { recursive: true, mode: 0o755 });
    await writeFile(join(snapshot, 'seen'), token);
    await writeFile(join(snapshot, 'd/f'), token);
    if (process.getuid?.() === 0) {
      for (const path of ['', 'd', 'seen', 'd/f']) await chown(join(snapshot, path), user.uid, user.gid);
    }
    const workspace = await maker.create({ snapshot }, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      return thrown instanceof PatchfleetError ? thrown.detail : engineProblem(thrown);
    });
    if (typeof workspace === 'string') return workspace;
    try {
      const problem = await write(workspace, token);
      if (problem !== null) return problem;
      const harvest = await workspace.harvest(signal).catch(engineProblem);
      const read = typeof harvest === 'string' ? harvest : harvest.map(shown).join(', ');
      return read === expected.join(', ') ? null : `what is written to it cannot be read: ${read}`;
    } finally {
      await workspace.remove();
    }
  } finally {
    await removeTree(home);
  }
}

const shown = ({ path, kind }: HarvestEntry) => `${path} ${kind}`;
