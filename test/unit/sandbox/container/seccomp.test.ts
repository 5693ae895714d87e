import { expect, it } from 'vitest';
import { seccompProfile } from '../../../../src/sandbox/container/seccomp.ts';

interface Rule {
  names: string[];
  action: string;
  errnoRet?: number;
  args?: { index: number; value: number; valueTwo?: number; op: string }[];
}
const profile = JSON.parse(seccompProfile()) as { defaultAction: string; syscalls: Rule[] };
const rules = (name: string) => profile.syscalls.filter(({ names }) => names.includes(name));

it('refuses what it does not name, and names nothing twice', () => {
  expect({ ...profile, syscalls: [] }).toEqual({
    // No architectures but the machine's own.
    ...{ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1, syscalls: [] },
  });
  const [unconditional] = profile.syscalls;
  const names = unconditional?.names ?? [];
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  // With arguments looked at, a rule without would undo the others.
  for (const { names: named } of profile.syscalls.slice(1))
    expect(named.filter((name) => names.includes(name))).toEqual([]);
});

it('lets nothing through that makes namespaces, mounts, loads code into the kernel or looks into it', () => {
  const refused = [
    ...[
      'unshare',
      'setns',
      'mount',
      'mount_setattr',
      'umount',
      'umount2',
      'move_mount',
      'open_tree',
      'fsopen',
    ],
    ...['fsmount', 'fsconfig', 'fspick', 'pivot_root', 'chroot', 'bpf', 'perf_event_open', 'io_uring_setup'],
    ...[
      'io_uring_enter',
      'io_uring_register',
      'userfaultfd',
      'keyctl',
      'add_key',
      'request_key',
      'kexec_load',
    ],
    ...[
      'kexec_file_load',
      'init_module',
      'finit_module',
      'delete_module',
      'open_by_handle_at',
      'reboot',
      'swapon',
    ],
    ...[
      'swapoff',
      'acct',
      'quotactl',
      'quotactl_fd',
      'settimeofday',
      'clock_settime',
      'clock_adjtime',
      'adjtimex',
    ],
    ...[
      'sethostname',
      'setdomainname',
      'iopl',
      'ioperm',
      'syslog',
      'kcmp',
      'process_vm_readv',
      'process_vm_writev',
    ],
    ...[
      'pidfd_getfd',
      'process_madvise',
      'move_pages',
      'migrate_pages',
      'mbind',
      'set_mempolicy',
      'fanotify_init',
    ],
    ...[
      'lookup_dcookie',
      'vhangup',
      'uselib',
      'ustat',
      'sysfs',
      '_sysctl',
      'nfsservctl',
      'socketcall',
      'ipc',
    ],
  ];
  expect(refused.filter((name) => rules(name).length > 0)).toEqual([]);
});

it('lets sockets be made of four families, and processes without namespaces', () => {
  const equal = (index: number, value: number) => ({ index, value, op: 'SCMP_CMP_EQ' });
  expect(rules('socket')).toEqual(
    // Of netlink the protocol counts, too: others than the first tell of the host's devices, its audit and its firewall.
    [[equal(0, 1)], [equal(0, 2)], [equal(0, 10)], [equal(0, 16), equal(2, 0)]].map((args) => ({
      names: ['socket'],
      action: 'SCMP_ACT_ALLOW',
      args,
    })),
  );
  const flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
  expect(rules('clone')).toEqual([
    {
      names: ['clone'],
      action: 'SCMP_ACT_ALLOW',
      args: [
        { index: 0, value: flags.reduce((all, flag) => all | flag), valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' },
      ],
    },
  ]);
  expect(rules('clone3')).toEqual([{ names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 }]);
});
