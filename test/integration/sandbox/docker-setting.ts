import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SandboxConfig } from '../../../src/config/sandbox-config.ts';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSandboxes, type DockerSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';
import type { EgressOptions } from '../../../src/sandbox/egress/egress.ts';
import type { Sandbox, SandboxKind } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { unmountBelow } from '../../../src/sandbox/workspaces/overlay-mount.ts';
import { mountsBelow } from '../../support/loop-disk.ts';

export const never = new AbortController().signal;

/** What docker on the command line says; independent of the code under test. */
export function docker(...args: string[]): string {
  return execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** What a setting has on engine and disk. */
export interface Left {
  readonly containers: readonly string[];
  readonly volumes: readonly string[];
  readonly mounts: readonly string[];
  readonly workspaces: readonly string[];
}
export const nothing: Left = { containers: [], volumes: [], mounts: [], workspaces: [] };

export interface Setting {
  readonly instance: string;
  readonly home: string;
  readonly workspacesDir: string;
  readonly sandboxes: DockerSandboxes;
  /** A directory to make workspaces of, with these files. */
  snapshot(files: Record<string, string | Buffer>): string;
  /** Starts a sandbox of a new attempt that is closed at the end in any case. */
  acquire(
    files?: Record<string, string | Buffer>,
    attemptId?: string,
    kind?: Partial<SandboxKind>,
  ): Promise<Sandbox>;
  /** Ids of this instance's containers, in any state. */
  containers(): string[];
  /** {@link nothing} once nobody has a sandbox any more. */
  left(): Promise<Left>;
  end(): Promise<void>;
}

/** Where sandboxes are; by default on the machine's engine, their workspaces in the setting's own directory. */
export interface Place {
  /** As `DOCKER_HOST`. */
  readonly engine?: string;
  readonly workspacesDir?: string;
}

/** An image of another name than the default, so that a branch can be tested beside what runs. */
export const ownImage = () => {
  const image = process.env['PATCHFLEET_TEST_IMAGE'];
  return image === undefined ? {} : { image };
};

/** Sandboxes of an instance of their own, on the real engine, with everything below one temporary directory. */
export function createSetting(
  config: Partial<SandboxConfig> = {},
  { egress, ...place }: Place & { readonly egress?: EgressOptions } = {},
): Setting {
  const home = mkdtempSync(join(tmpdir(), 'patchfleet-sandboxes-'));
  const instance = `test-${randomBytes(6).toString('hex')}`;
  const { engine = process.env['DOCKER_HOST'], workspacesDir = join(home, 'workspaces') } = place;
  const sandboxes = createSandboxes({
    dockerHost: engine,
    config: sandboxConfigSchema.parse({
      memory_mib: 256,
      scratch_mib: 64,
      pids: 128,
      ...ownImage(),
      ...config,
    }),
    instance,
    worker: 'tester',
    workspacesDir,
    ...(egress === undefined ? {} : { egress }),
  });
  const opened: Sandbox[] = [];
  const host = engine === undefined ? [] : ['--host', engine];
  const own = ['--filter', `label=dev.patchfleet.instance=${instance}`];
  const lines = (...args: string[]) =>
    docker(...host, ...args)
      .split('\n')
      .filter((line) => line !== '');
  const containers = () => lines('ps', '-aq', '--no-trunc', ...own);

  const snapshot: Setting['snapshot'] = (files) => {
    const dir = mkdtempSync(join(home, 'snapshot-'));
    chmodSync(dir, 0o755);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), content);
    }
    // As snapshots are: an overlay gives the sandbox user what it may do by their owner and modes.
    const { uid, gid } = sandboxUser();
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${uid}:${gid}`, dir]);
    return dir;
  };
  return {
    instance,
    home,
    workspacesDir,
    sandboxes,
    snapshot,
    containers,
    async acquire(files = { 'a.txt': 'one\ntwo\n' }, attemptId = randomUUID(), kind = {}) {
      // As long as any file of tests takes on a slow machine: most share one.
      const wallMs = 1_200_000;
      const request = { taskId: 'task', attemptId, snapshot: snapshot(files), wallMs, ...kind };
      const sandbox = await sandboxes.acquire(request, never);
      opened.push(sandbox);
      return sandbox;
    },
    left: async () => ({
      containers: containers(),
      volumes: lines('volume', 'ls', '-q', ...own),
      mounts: [...(await mountsBelow(home)), ...(await mountsBelow(workspacesDir))].filter(
        (path) => path !== workspacesDir,
      ),
      // Where the workspaces have a file system of their own, it brings one directory.
      workspaces: readdirSync(workspacesDir).filter((name) => name !== 'lost+found'),
    }),
    async end() {
      await Promise.all(opened.map((sandbox) => sandbox.close()));
      const left = containers();
      if (left.length > 0) docker(...host, 'rm', '-f', ...left);
      await unmountBelow(home);
      await removeTree(home);
      if (left.length > 0) throw new Error(`containers were left: ${left.join(' ')}`);
    },
  };
}
