import fc from 'fast-check';
import { expect, it } from 'vitest';
import { networkRuleSchema, sandboxConfigSchema } from '../../../../src/config/sandbox-config.ts';
import { containerSpec } from '../../../../src/sandbox/container/container-spec.ts';
import { seccompProfile } from '../../../../src/sandbox/container/seccomp.ts';

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const whole = (min: number, max: number) => fc.integer({ min, max });

const config = fc
  .record({
    image: word,
    isolation: fc.constantFrom('standard' as const, 'strict' as const),
    runtime: fc.option(word),
    memory_mib: whole(64, 1 << 20),
    memory_ceiling_mib: whole(64, 1 << 20),
    cpus: fc.double({ min: 0.1, max: 512, noNaN: true }),
    pids: whole(16, 1 << 20),
    scratch_mib: whole(16, 1 << 20),
    workspaces: fc.constantFrom('auto' as const, 'overlay' as const, 'volume' as const, 'copy' as const),
    workspace_mib: whole(16, 1 << 20),
    workspace_files: whole(100, 1 << 24),
    network: fc.record({
      allow: fc.array(fc.record({ host: word, port: whole(1, 65_535), private: fc.boolean() }), {
        maxLength: 3,
      }),
      agents: fc.boolean(),
    }),
  })
  .map((given) => sandboxConfigSchema.parse(given));
const kind = fc.record(
  {
    image: word,
    memoryMib: whole(64, 1 << 20),
    network: fc.array(
      word.map((host) => networkRuleSchema.parse({ host })),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const identity = fc.record({
  instance: word,
  worker: word,
  name: word,
  workspace: fc.oneof(
    word.map((name) => ({ kind: 'bind' as const, dir: `/data/${name}` })),
    word.map((name) => ({ kind: 'volume' as const, name, options: { type: 'overlay' } })),
  ),
  hosts: fc.constant('/data/hosts'),
  egress: fc.option(fc.record({ directory: fc.option(word.map((name) => `/data/egress/${name}`)) })),
  user: fc.record({ uid: whole(1, 1 << 30), gid: whole(1, 1 << 30) }),
});

it('no setting and no request gives a container more than its workspace and its limits', () => {
  fc.assert(
    fc.property(config, kind, identity, (settings, asked, who) => {
      const spec = containerSpec(settings, asked, who);
      const host = spec.HostConfig ?? {};
      expect(spec.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(host).toMatchObject({
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges', `seccomp=${seccompProfile()}`],
        Privileged: false,
        ReadonlyRootfs: true,
        IpcMode: 'private',
        CgroupnsMode: 'private',
        MemorySwap: host.Memory,
        RestartPolicy: { Name: 'no' },
      });
      // Less of these than an engine has by itself would open a container.
      expect(host.MaskedPaths).toEqual(
        expect.arrayContaining(['/proc/kcore', '/proc/keys', '/sys/firmware']),
      );
      expect(host.ReadonlyPaths).toEqual(expect.arrayContaining(['/proc/sys', '/proc/sysrq-trigger']));
      // Whatever opens a container: none of it may be there at all.
      const dangerous = [
        ...[
          'Binds',
          'VolumesFrom',
          'Devices',
          'DeviceRequests',
          'DeviceCgroupRules',
          'CapAdd',
          'PidMode',
          'UTSMode',
        ],
        ...[
          'UsernsMode',
          'Sysctls',
          'GroupAdd',
          'CgroupParent',
          'Cgroup',
          'ExtraHosts',
          'Links',
          'PortBindings',
        ],
        ...['PublishAllPorts', 'OomKillDisable', 'Dns'],
      ];
      expect(Object.keys(host).filter((key) => dangerous.includes(key))).toEqual([]);
      expect(
        Object.keys(spec).filter((key) => ['ExposedPorts', 'Volumes', 'Entrypoint'].includes(key)),
      ).toEqual([]);
      const mounts = (host.Mounts ?? []).map(({ Source, Target }) => [Source, Target]);
      const { workspace, egress } = who;
      const socket = egress?.directory ?? null;
      expect(mounts).toEqual([
        [workspace.kind === 'bind' ? workspace.dir : workspace.name, '/workspace'],
        ['/data/hosts', '/etc/hosts'],
        ...(socket === null ? [] : [[socket, '/run/patchfleet']]),
      ]);
      expect(JSON.stringify(spec)).not.toMatch(/docker\.sock|unconfined/);
      // Every number is a bound that the engine takes: whole, and above zero where zero means none.
      for (const limit of [host.Memory, host.PidsLimit, host.NanoCpus, host.ShmSize])
        expect(Number.isSafeInteger(limit) && Number(limit) > 0).toBe(true);
      const tmpfs = Object.values((host.Tmpfs ?? {}) as Record<string, string>);
      for (const options of tmpfs)
        expect(options).toMatch(/nosuid,nodev,.*size=[1-9]\d*m,nr_inodes=[1-9]\d*$/);
      expect(tmpfs.filter((options) => !options.includes('noexec')).length).toBe(1);
    }),
  );
});

it('the runtime is the one named, else runsc where isolation is strict, else the engine’s own', () => {
  fc.assert(
    fc.property(config, identity, (settings, who) => {
      const expected = settings.runtime ?? (settings.isolation === 'strict' ? 'runsc' : undefined);
      expect(containerSpec(settings, {}, who).HostConfig?.Runtime).toBe(expected);
    }),
  );
});
