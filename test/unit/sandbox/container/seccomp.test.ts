import { expect, it } from 'vitest';
import { seccompProfile } from '../../../../src/sandbox/container/seccomp.ts';

interface Rule {
  names: string[];
  action: string;
  errnoRet?: number;
  args?: { index: number; value: number; valueTwo: number; op: string }[];
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
      'modify_ldt',
    ],
  ];
  expect(refused.filter((name) => rules(name).length > 0)).toEqual([]);
});

const holds = ({ index, value, valueTwo, op }: NonNullable<Rule['args']>[number], args: number[]) => {
  const given = args[index] ?? 0;
  if (op === 'SCMP_CMP_MASKED_EQ') return (given & value) >>> 0 === valueTwo;
  return (given === value) === (op === 'SCMP_CMP_EQ');
};
/** What is done about a call with these arguments: by all rules that say something of it, and by default. */
const done = (name: string, ...args: number[]) => {
  const said = rules(name).filter(({ args: conditions = [] }) => conditions.every((one) => holds(one, args)));
  return [...new Set(said.map(({ action, errnoRet }) => (action === 'SCMP_ACT_ALLOW' ? 'let' : errnoRet)))];
};
const lets = (name: string, ...args: number[]) => done(name, ...args).includes('let');
const [nonBlocking, closeOnExec] = [0o4000, 0o2000000];

it('lets sockets be made of what the kernel has by itself, without loading a module for it', () => {
  const made = [
    ...[
      [1, 1, 0],
      [1, 2, 0],
      [1, 5, 0],
    ],
    ...[2, 10].flatMap((family) => [
      [family, 1, 0],
      [family, 1, 6],
      [family, 2, 0],
      [family, 2, 17],
    ]),
    ...[
      [2, 1 | nonBlocking | closeOnExec, 0],
      [16, 3, 0],
      [16, 3 | closeOnExec, 0],
      [16, 2, 0],
    ],
  ];
  expect(made.filter((args) => !lets('socket', ...args))).toEqual([]);
  const [alg, tipc, packet, vsock, qipcrtr] = [38, 30, 17, 40, 42];
  const refused = [
    ...[alg, tipc, packet, vsock, qipcrtr].map((family) => [family, 1, 0]),
    // SCTP, DCCP, MPTCP, raw.
    ...[
      [2, 1, 132],
      [10, 1, 132],
      [2, 5, 0],
      [2, 5, 132],
      [2, 6, 33],
      [2, 6, 0],
      [2, 1, 262],
      [2, 3, 1],
    ],
    // Netlink of the packet filter, of IPsec, of algorithms, of whatever registers itself.
    ...[
      [16, 3, 12],
      [16, 3, 6],
      [16, 3, 21],
      [16, 3, 16],
    ],
  ];
  expect(refused.filter((args) => lets('socket', ...args))).toEqual([]);
  expect([lets('socketpair', 1, 1, 0), lets('socketpair', tipc, 1, 0), lets('socketpair', 2, 1, 0)]).toEqual([
    true,
    false,
    false,
  ]);
});

it('lets processes be made without namespaces', () => {
  const flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
  expect(flags.filter((flag) => lets('clone', flag))).toEqual([]);
  // As fork and as a thread.
  expect([lets('clone', 0x1200011), lets('clone', 0x3d0f00)]).toEqual([true, true]);
});

it('lets limits be set, but for that of dumps, which a process believes to have set', () => {
  const [itself, core, files, value, noValue] = [0, 4, 7, 0x7fff_0000_1000, 0];
  const high = 2 ** 32;
  expect({
    ...{ files: done('setrlimit', files, value), filesOfAll: done('prlimit64', itself, files, value) },
    ...{ core: done('setrlimit', core, value), coreOfAll: done('prlimit64', itself, core, value) },
    // The kernel takes 32 bits of it.
    ...{ coreHigh: done('setrlimit', core + high, value), read: done('prlimit64', itself, core, noValue) },
    coreHighOfAll: done('prlimit64', itself, core + high, value),
  }).toEqual({
    ...{ files: ['let'], filesOfAll: ['let'], read: ['let'] },
    ...{ core: [0], coreOfAll: [0], coreHigh: [0], coreHighOfAll: [0] },
  });
});

it('has calls whose arguments it cannot see, and what is one measure for the whole machine, look absent', () => {
  for (const name of [
    'clone3',
    'io_setup',
    'io_submit',
    'io_getevents',
    'io_pgetevents',
    'io_cancel',
    'io_destroy',
  ])
    expect(rules(name)).toEqual([expect.objectContaining({ action: 'SCMP_ACT_ERRNO', errnoRet: 38 })]);
});
