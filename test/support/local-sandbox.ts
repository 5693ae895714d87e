import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listDirectory, readLines } from '../../sandbox/look-at-files.ts';
import { runCommand } from '../../sandbox/run-command.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';

/**
 * A sandbox without walls for tests of agents: the tool server's own functions over a temporary directory, with
 * real child processes. Searching is left to the tests with a real container, since it wants ripgrep.
 */
export async function createLocalSandbox(files: Readonly<Record<string, string>>): Promise<Sandbox> {
  const workspace = await mkdtemp(join(tmpdir(), 'patchfleet-local-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
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
    close: () => rm(workspace, { recursive: true, force: true }),
  };
}
