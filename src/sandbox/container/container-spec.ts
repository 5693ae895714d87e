import type { ContainerCreateOptions, MountSettings } from 'dockerode';
import { egressArgument, egressDirectory, proxyVariables } from '../../../sandbox/egress-place.ts';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import type { SandboxKind } from '../port.ts';
import type { WorkspaceMount } from '../workspaces/workspaces.ts';
import { sandboxHostname } from './loopback-names.ts';
import { ownThreads, runtimeOf } from './runtime.ts';
import { seccompProfile } from './seccomp.ts';

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
/** Size of `/tmp` and of shared memory each; both count as memory of the container. */
const smallTmpfsMib = 64;
/** Files a tmpfs may hold per MiB of its size: empty ones take memory of the kernel that `size` does not count. */
const inodesPerMib = 128;

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
    /** File on the engine's machine that it has as `/etc/hosts`. */
    readonly hosts?: string;
    /** What it may reach goes by the worker's proxy; `directory` holds its socket, where there is one. */
    readonly egress?: { readonly directory: string | null } | null;
  },
): ContainerCreateOptions {
  const { uid, gid } = identity.user;
  const { egress = null } = identity;
  const memory = (kind.memoryMib ?? config.memory_mib) * mib;
  return {
    name: identity.name,
    Image: kind.image ?? config.image,
    // Appended to the image's entrypoint, the tool server.
    Cmd: ['--container', ...(egress === null ? [] : [egressArgument]), workspaceInContainer],
    User: `${uid}:${gid}`,
    WorkingDir: workspaceInContainer,
    Hostname: sandboxHostname,
    Env: [
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'LANG=C.UTF-8',
      'TERM=dumb',
      `HOME=${scratch}/home`,
      `TMPDIR=${scratch}/tmp`,
      `GOTMPDIR=${scratch}/tmp`,
      // Compiled files beside the sources would be part of every patch whose agent ran a test.
      'PYTHONDONTWRITEBYTECODE=1',
      ...(egress === null ? [] : proxyVariables),
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
    // The image's own would be run by the engine all the while.
    Healthcheck: { Test: ['NONE'] },
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccompProfile()}`],
      Privileged: false,
      ReadonlyRootfs: true,
      MaskedPaths: [...hidden],
      ReadonlyPaths: [...readOnly],
      // The workspace is removed by whoever made it.
      Mounts: [workspaceMount(identity), ...hostsMounts(identity), ...socketMounts(egress)],
      Tmpfs: {
        '/tmp': `rw,noexec,nosuid,nodev,mode=1777,${bounds(smallTmpfsMib)}`,
        '/dev/shm': `rw,noexec,nosuid,nodev,mode=1777,${bounds(smallTmpfsMib)}`,
        // Tools compile and run things here; a noexec TMPDIR breaks `go test`, a read-only HOME most tools.
        [scratch]: `rw,exec,nosuid,nodev,mode=0700,uid=${uid},gid=${gid},${bounds(config.scratch_mib)}`,
      },
      ShmSize: smallTmpfsMib * mib,
      Memory: memory,
      MemorySwap: memory,
      MemorySwappiness: 0,
      NanoCpus: Math.round(config.cpus * 1e9),
      PidsLimit: config.pids + ownThreads(runtimeOf(config)),
      Ulimits: ulimits({
        nofile: 4096,
        // Of one byte: none is written, and the kernel hands none to a program of the host (`core_pattern`), which it
        // does at 0. The filter keeps it so.
        core: 1,
        // One file alone cannot be larger than all of the workspace may be.
        fsize: config.workspace_mib * mib,
        // The kernel counts these per user, and all sandboxes have one: what one took, another would lack. Processes
        // and queued signals as well, so that no `nproc` and no `sigpending` is set: a bound is one for all together.
        memlock: 0,
        msgqueue: 0,
      }),
      OomScoreAdj: 500,
      Init: true,
      IpcMode: 'private',
      ...ownCgroups,
      ...runtime(config),
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  };
}

/**
 * What `/proc` and `/sys` tell of the whole machine and no program needs: as the newest engines hide it, whatever the
 * one here does by itself, and the addresses of the kernel. What is not there is skipped.
 */
const hidden = [
  ...['acpi', 'asound', 'interrupts', 'kallsyms', 'kcore', 'keys', 'latency_stats', 'sched_debug', 'scsi'],
  ...['timer_list', 'timer_stats'],
]
  .map((name) => `/proc/${name}`)
  .concat('/sys/devices/virtual/powercap', '/sys/firmware');
const readOnly = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger'].map((name) => `/proc/${name}`);

/** Bounds of a tmpfs in bytes and in files. */
const bounds = (sizeMib: number) => `size=${sizeMib}m,nr_inodes=${sizeMib * inodesPerMib}`;

/** Hides where the engine keeps the container. Not in dockerode's types. */
const ownCgroups = { CgroupnsMode: 'private' } as const;

const ulimits = (limits: Readonly<Record<string, number>>) =>
  Object.entries(limits).map(([Name, limit]) => ({ Name, Soft: limit, Hard: limit }));

/** Without one, the engine's default. */
function runtime(config: SandboxConfig): { Runtime?: string } {
  const name = runtimeOf(config);
  return name === null ? {} : { Runtime: name };
}

function hostsMounts({ hosts }: { readonly hosts?: string }): MountSettings[] {
  return hosts === undefined ? [] : [readOnlyMount(hosts, '/etc/hosts')];
}

function socketMounts(egress: { readonly directory: string | null } | null): MountSettings[] {
  if (egress === null || egress.directory === null) return [];
  return [readOnlyMount(egress.directory, egressDirectory)];
}

function readOnlyMount(Source: string, Target: string): MountSettings {
  return { Target, Source, Type: 'bind', ReadOnly: true, BindOptions: { Propagation: 'rprivate' } };
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
