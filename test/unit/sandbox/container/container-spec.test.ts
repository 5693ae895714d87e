import { expect, it } from 'vitest';
import { sandboxConfigSchema } from '../../../../src/config/sandbox-config.ts';
import { containerSpec } from '../../../../src/sandbox/container/container-spec.ts';
import { seccompProfile } from '../../../../src/sandbox/container/seccomp.ts';

it('describes a hardened container, whole', () => {
  const config = sandboxConfigSchema.parse({
    image: 'img:1',
    memory_mib: 256,
    cpus: 1.5,
    pids: 99,
    scratch_mib: 32,
    workspace_mib: 100,
  });
  const spec = containerSpec(
    config,
    {},
    {
      ...{ instance: 'inst', worker: 'host-1', name: 'patchfleet-x' },
      workspace: { kind: 'bind', dir: '/data/w/1' },
      user: { uid: 1234, gid: 1235 },
      hosts: '/data/hosts',
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
    Healthcheck: { Test: ['NONE'] },
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccompProfile()}`],
      Privileged: false,
      ReadonlyRootfs: true,
      MaskedPaths: [
        ...['/proc/acpi', '/proc/asound', '/proc/interrupts', '/proc/kallsyms', '/proc/kcore', '/proc/keys'],
        ...[
          '/proc/latency_stats',
          '/proc/sched_debug',
          '/proc/scsi',
          '/proc/timer_list',
          '/proc/timer_stats',
        ],
        ...['/sys/devices/virtual/powercap', '/sys/firmware'],
      ],
      ReadonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
      Mounts: [
        {
          Type: 'bind',
          Source: '/data/w/1',
          Target: '/workspace',
          ReadOnly: false,
          BindOptions: { Propagation: 'rprivate' },
        },
        {
          Type: 'bind',
          Source: '/data/hosts',
          Target: '/etc/hosts',
          ReadOnly: true,
          BindOptions: { Propagation: 'rprivate' },
        },
      ],
      Tmpfs: {
        '/tmp': 'rw,noexec,nosuid,nodev,mode=1777,size=64m,nr_inodes=8192',
        '/dev/shm': 'rw,noexec,nosuid,nodev,mode=1777,size=64m,nr_inodes=8192',
        '/scratch': 'rw,exec,nosuid,nodev,mode=0700,uid=1234,gid=1235,size=32m,nr_inodes=4096',
      },
      ShmSize: 67_108_864,
      Memory: 268_435_456,
      MemorySwap: 268_435_456,
      MemorySwappiness: 0,
      NanoCpus: 1_500_000_000,
      PidsLimit: 99,
      Ulimits: [
        { Name: 'nofile', Soft: 4096, Hard: 4096 },
        { Name: 'core', Soft: 1, Hard: 1 },
        { Name: 'fsize', Soft: 104_857_600, Hard: 104_857_600 },
        { Name: 'memlock', Soft: 0, Hard: 0 },
        { Name: 'msgqueue', Soft: 0, Hard: 0 },
      ],
      OomScoreAdj: 500,
      Init: true,
      IpcMode: 'private',
      CgroupnsMode: 'private',
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  });
});

it('adds the way out where there is one: an argument, the variables, and its socket where it has one', () => {
  const config = sandboxConfigSchema.parse({});
  const identity = {
    ...{ instance: 'inst', worker: 'host-1', name: 'patchfleet-x' },
    workspace: { kind: 'bind', dir: '/data/w/1' } as const,
    user: { uid: 1234, gid: 1235 },
  };
  const without = containerSpec(config, {}, identity);
  const withOut = (directory: string | null) =>
    containerSpec(config, {}, { ...identity, egress: { directory } });
  const proxy = 'http://127.0.0.1:3128';
  const direct = 'localhost,127.0.0.1,::1';
  const stream = {
    ...without,
    Cmd: ['--container', '--egress', '/workspace'],
    Env: [
      ...(without.Env ?? []),
      ...[`HTTP_PROXY=${proxy}`, `HTTPS_PROXY=${proxy}`, `NO_PROXY=${direct}`],
      ...[`http_proxy=${proxy}`, `https_proxy=${proxy}`, `no_proxy=${direct}`],
      ...[`npm_config_proxy=${proxy}`, `npm_config_https_proxy=${proxy}`, `npm_config_noproxy=${direct}`],
      ...[`YARN_HTTP_PROXY=${proxy}`, `YARN_HTTPS_PROXY=${proxy}`, 'NODE_USE_ENV_PROXY=1'],
    ],
  };
  expect(withOut(null)).toEqual(stream);
  const socket = {
    ...{ Target: '/run/patchfleet', Source: '/data/egress/1', Type: 'bind', ReadOnly: true },
    BindOptions: { Propagation: 'rprivate' },
  };
  expect(withOut('/data/egress/1')).toEqual({
    ...stream,
    HostConfig: { ...without.HostConfig, Mounts: [...(without.HostConfig?.Mounts ?? []), socket] },
  });
});
