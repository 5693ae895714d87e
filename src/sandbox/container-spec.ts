import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import type { SandboxConfig } from '../config/sandbox-config.ts';
import type { SandboxKind } from './port.ts';
import type { WorkspaceMount } from './workspaces.ts';

/** The user that owns workspaces on the host and runs everything in a container. Never root. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** Labels by which the reaper knows its own. */
export const labels = {
  instance: 'dev.patchfleet.instance',
  worker: 'dev.patchfleet.worker',
} as const;

/** Where the workspace is mounted. */
export const workspaceInContainer = '/workspace';
const scratch = '/scratch';

const mib = 1024 * 1024;

/**
 * The whole description of a sandbox's container. It has no network, no capability, no secret, a read-only
 * root, and one thing of the host's: its workspace. It ends by itself when its standard input closes.
 */
export function containerSpec(
  config: SandboxConfig,
  kind: Pick<SandboxKind, 'image' | 'memoryMib'>,
  identity: {
    readonly instance: string;
    readonly worker: string;
    readonly name: string;
    readonly workspace: WorkspaceMount;
    readonly user: SandboxUser;
  },
): ContainerCreateOptions {
  const { uid, gid } = identity.user;
  const memory = (kind.memoryMib ?? config.memory_mib) * mib;
  const largestFile = Math.max(config.workspace_mib, config.scratch_mib) * mib;
  return {
    name: identity.name,
    Image: kind.image ?? config.image,
    // Appended to the image's entrypoint, the tool server.
    Cmd: ['--container', workspaceInContainer],
    User: `${uid}:${gid}`,
    WorkingDir: workspaceInContainer,
    Hostname: 'sandbox',
    Env: [
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'LANG=C.UTF-8',
      'TERM=dumb',
      `HOME=${scratch}/home`,
      `TMPDIR=${scratch}/tmp`,
      `GOTMPDIR=${scratch}/tmp`,
      // Compiled files beside the sources would be part of every patch whose agent ran a test.
      'PYTHONDONTWRITEBYTECODE=1',
    ],
    Labels: {
      [labels.instance]: identity.instance,
      [labels.worker]: identity.worker,
    },
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    // The engine closes the input when its one client goes: so a sandbox ends with its worker.
    StdinOnce: true,
    StopTimeout: 2,
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      ReadonlyRootfs: true,
      // The workspace is removed by whoever made it.
      Mounts: [workspaceMount(identity)],
      Tmpfs: {
        '/tmp': 'rw,noexec,nosuid,nodev,size=64m,mode=1777',
        // Tools compile and run things here; a noexec TMPDIR breaks `go test`, a read-only HOME most tools.
        [scratch]: `rw,exec,nosuid,nodev,size=${config.scratch_mib}m,mode=0700,uid=${uid},gid=${gid}`,
      },
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: Math.round(config.cpus * 1e9),
      PidsLimit: config.pids,
      Ulimits: [
        { Name: 'nofile', Soft: 4096, Hard: 4096 },
        { Name: 'core', Soft: 0, Hard: 0 },
        // Of one file, bytes: no giant comes into being between two looks at the workspace.
        { Name: 'fsize', Soft: largestFile, Hard: largestFile },
      ],
      OomScoreAdj: 500,
      Init: true,
      IpcMode: 'private',
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  };
}

function workspaceMount(identity: {
  readonly instance: string;
  readonly worker: string;
  readonly workspace: WorkspaceMount;
}): MountSettings {
  const { workspace, instance, worker } = identity;
  if (workspace.kind === 'bind') {
    return {
      ...{ Target: workspaceInContainer, Source: workspace.dir, Type: 'bind', ReadOnly: false },
      // Nothing that is mounted on either side later is seen on the other.
      BindOptions: { Propagation: 'rprivate' },
    };
  }
  return {
    ...{ Target: workspaceInContainer, Source: workspace.name, Type: 'volume', ReadOnly: false },
    VolumeOptions: {
      // What the image has there is not copied into it.
      NoCopy: true,
      Labels: { [labels.instance]: instance, [labels.worker]: worker },
      DriverConfig: { Name: 'local', Options: { ...workspace.options } },
    },
  };
}
