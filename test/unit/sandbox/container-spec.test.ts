import { expect, it } from 'vitest';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { containerSpec } from '../../../src/sandbox/container-spec.ts';

it('describes a hardened container, whole', () => {
  const config = sandboxConfigSchema.parse({
    image: 'img:1',
    memory_mib: 256,
    cpus: 1.5,
    pids: 99,
    scratch_mib: 32,
  });
  const spec = containerSpec(
    config,
    {},
    {
      ...{ instance: 'inst', worker: 'host-1', name: 'patchfleet-x' },
      workspace: { kind: 'bind', dir: '/data/w/1' },
      user: { uid: 1234, gid: 1235 },
    },
  );
  expect(spec).toEqual({
    name: 'patchfleet-x',
    Image: 'img:1',
    Cmd: ['--container', '/workspace'],
    User: '1234:1235',
    WorkingDir: '/workspace',
    Hostname: 'sandbox',
    Env: [
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'LANG=C.UTF-8',
      'TERM=dumb',
      'HOME=/scratch/home',
      'TMPDIR=/scratch/tmp',
      'GOTMPDIR=/scratch/tmp',
      'PYTHONDONTWRITEBYTECODE=1',
    ],
    Labels: {
      'dev.patchfleet.instance': 'inst',
      'dev.patchfleet.worker': 'host-1',
    },
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    StopTimeout: 2,
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      ReadonlyRootfs: true,
      Mounts: [
        {
          Type: 'bind',
          Source: '/data/w/1',
          Target: '/workspace',
          ReadOnly: false,
          BindOptions: { Propagation: 'rprivate' },
        },
      ],
      Tmpfs: {
        '/tmp': 'rw,noexec,nosuid,nodev,size=64m,mode=1777',
        '/scratch': 'rw,exec,nosuid,nodev,size=32m,mode=0700,uid=1234,gid=1235',
      },
      Memory: 268_435_456,
      MemorySwap: 268_435_456,
      NanoCpus: 1_500_000_000,
      PidsLimit: 99,
      Ulimits: [
        { Name: 'nofile', Soft: 4096, Hard: 4096 },
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'fsize', Soft: 4_294_967_296, Hard: 4_294_967_296 },
      ],
      OomScoreAdj: 500,
      Init: true,
      IpcMode: 'private',
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  });
});
