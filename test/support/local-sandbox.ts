import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { editFile, removeFile, writeWhole } from '../../sandbox/change-files.ts';
import { listDirectory, readLines } from '../../sandbox/look-at-files.ts';
import { runCommand } from '../../sandbox/run-command.ts';
import { harvestWorkspace } from '../../src/sandbox/harvest/harvest.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';

/**
 * A sandbox without walls for tests of agents: the tool server's own functions over a temporary directory, with
 * real child processes. Searching is left to the tests with a real container, since it wants ripgrep. Made of
 * files, or of a snapshot directory.
 */
export async function createLocalSandbox(
  from: Readonly<Record<string, string>> | { readonly snapshotDir: string },
): Promise<Sandbox> {
  const home = await mkdtemp(join(tmpdir(), 'patchfleet-local-'));
  const workspace = join(home, 'workspace');
  const made = join(home, 'snapshot');
  const given = 'snapshotDir' in from && typeof from.snapshotDir === 'string' ? from.snapshotDir : null;
  if (given === null) {
    await mkdir(made);
    for (const [path, text] of Object.entries(from)) {
      await mkdir(dirname(join(made, path)), { recursive: true });
      await writeFile(join(made, path), text);
    }
  }
  const snapshot = given ?? made;
  await cp(snapshot, workspace, { recursive: true, verbatimSymlinks: true });
  return {
    containerId: 'local-sandbox',
    workspace,
    list: (path, { limit = 1000 }) => listDirectory(workspace, { op: 'list', path, limit }),
    read: (path, { signal, start = 1, end = null }) =>
      readLines(workspace, { op: 'read', path, start, end: end ?? null }, signal),
    search: () => Promise.reject(new Error('searching wants a container')),
    run: (argv, { signal, wallMs, cwd = '', env = {}, idleMs = null, maxBuffer = 256 * 1024, stdin = '' }) =>
      runCommand(
        { workspace, alone: false },
        { op: 'run', argv, cwd, env, wallMs, idleMs, maxBuffer, stdin },
        signal,
      ),
    runByEngine: () => Promise.reject(new Error('there is no engine')),
    cpuMs: async () => null,
    async write(path, content, { executable = null }) {
      await writeWhole(workspace, { op: 'write', path, content, executable });
    },
    edit: (path, old, replacement) => editFile(workspace, { op: 'edit', path, old, replacement }),
    async remove(path) {
      await removeFile(workspace, { op: 'remove', path });
    },
    keep: () => Promise.reject(new Error('not asked for')),
    harvest: (signal) => harvestWorkspace({ workspace, snapshot }, signal),
    close: () => rm(home, { recursive: true, force: true }),
  };
}
