import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Sandbox, Sandboxes, Snapshots } from '../../../src/sandbox/port.ts';

/** Sandboxes that cost nothing: everything answers at once, nothing is there and nothing is changed. */
export function createNoOpSandboxes(): Sandboxes {
  return {
    acquire: async () => createNoOpSandbox(),
    reap: async () => ({ containers: 0, workspaces: 0 }),
    imageId: async () => 'none',
    check: async () => ({ problems: [], notes: [] }),
    prewarm: () => {},
    close: async () => {},
  };
}

/** Directories that are only named. */
export const noSnapshots: Snapshots = {
  ensure: async (repository, commit) => `/nowhere/${repository.id}/${commit}`,
};

const empty = gzipSync('');
/** As `execution/workspace-patch.ts` reads it. */
const emptyPatch = `patch ${empty.length}\n${empty.toString('base64')}`;

function createNoOpSandbox(): Sandbox {
  const ran = {
    exitCode: 0,
    signal: null,
    stdout: '',
    stderr: '',
    timedOut: false,
    isCanceled: false,
    isMaxBuffer: false,
    spawnError: null,
    durationMs: 0,
    peakMemoryBytes: null,
    outOfMemory: false,
  };
  return {
    containerId: randomBytes(32).toString('hex'),
    workspace: '/workspace',
    list: async () => [],
    read: async () => ({ text: '', start: 1, end: 0, totalLines: 0, truncated: false }),
    search: async () => ({ matches: [], truncated: false }),
    // A patch is asked for after each turn that wrote: it is empty, so that every turn has its checkpoint.
    run: async () => ({ ...ran, stdout: emptyPatch }),
    runByEngine: async () => ran,
    cpuMs: async () => null,
    write: async () => {},
    edit: async () => ({ edited: true, line: 1, explanation: '' }),
    remove: async () => {},
    harvest: async () => [],
    keep: async () => {},
    close: async () => {},
  };
}
