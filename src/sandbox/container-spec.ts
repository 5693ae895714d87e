import type { ContainerCreateOptions } from 'dockerode';
import type { OperatorConfig } from '../config/operator-config.ts';
import type { SandboxRequest } from './port.ts';

export type SandboxConfig = OperatorConfig['sandbox'];

/** The user that owns workspaces on the host and runs everything in a container. Never root. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** Labels by which the reaper knows its own. */
export const labels = {
  instance: 'dev.patchfleet.instance',
  task: 'dev.patchfleet.task',
  attempt: 'dev.patchfleet.attempt',
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
  request: Pick<SandboxRequest, 'taskId' | 'attemptId'>,
  identity: {
    readonly instance: string;
    readonly name: string;
    readonly workspaceDir: string;
    readonly user: SandboxUser;
  },
): ContainerCreateOptions {
  const { uid, gid } = identity.user;
  const memory = config.memory_mib * mib;
  return {
    name: identity.name,
    Image: config.image,
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
      [labels.task]: request.taskId,
      [labels.attempt]: request.attemptId,
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
      // No docker-managed volume: the workspace is removed by whoever made it.
      Binds: [`${identity.workspaceDir}:${workspaceInContainer}:rw`],
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
      ],
      OomScoreAdj: 500,
      Init: true,
      IpcMode: 'private',
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  };
}
