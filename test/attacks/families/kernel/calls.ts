import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

const syscall = (name: string, tries: string, call: string) => probe(name, tries, { python: call });

/** Calls that only the owner of a kernel may make, and those that have undone walls. */
export const calls: readonly Attack[] = [
  syscall(
    'keyring',
    'to read and plant keys of the kernel’s keyring',
    python`refused('add_key', b'user', b'attack', b'payload', 7, -3)`,
  ),
  syscall('keyctl', 'to search the keyrings of others', python`refused('keyctl', 0, -4, 1)`),
  syscall(
    'bpf',
    'to load a program into the kernel',
    python`refused('bpf', 0, ctypes.create_string_buffer(128), 128)`,
  ),
  syscall(
    'perf_event_open',
    'to watch the processors',
    python`refused('perf_event_open', ctypes.create_string_buffer(struct.pack('IIQ', 1, 128, 0) + b'\0' * 112), 0, -1, -1, 0)`,
  ),
  syscall(
    'io_uring',
    'to make system calls that no filter sees',
    python`refused('io_uring_setup', 8, ctypes.create_string_buffer(120))`,
  ),
  syscall(
    'userfaultfd',
    'to hold the kernel in the middle of a copy',
    python`
# For faults of its own memory alone, as everybody may who is let.
refused('userfaultfd', 1)`,
  ),
  syscall('kexec', 'to start another kernel', python`refused('kexec_load', 0, 0, 0, 0)`),
  syscall(
    'kernel module',
    'to load a module',
    python`refused('init_module', ctypes.create_string_buffer(64), 64, b'')`,
  ),
  syscall(
    'module from a file',
    'to load a module from a file',
    python`
fd = os.open('/scratch/module.ko', os.O_CREAT | os.O_RDONLY)
refused('finit_module', fd, b'', 0)`,
  ),
  probe('open_by_handle_at', 'to open files of the host by guessed handles', {
    python: python`
handle = ctypes.create_string_buffer(struct.pack('Ii', 8, 1) + struct.pack('Q', 2))
fd = os.open('/workspace', os.O_RDONLY)
refused('open_by_handle_at', fd, handle, 0)`,
  }),
  syscall(
    'clock',
    'to set the clock of the host',
    python`refused('settimeofday', ctypes.create_string_buffer(struct.pack('qq', 1, 0)), None)`,
  ),
  syscall('host name', 'to set the name of the machine', python`refused('sethostname', b'owned', 5)`),
  syscall(
    'reboot',
    'to turn the machine off',
    python`
# That Ctrl-Alt-Del be told to init, as it is anyway.
refused('reboot', 0)`,
  ),
  syscall('swap', 'to have a file taken for swap', python`refused('swapon', b'/scratch/swap', 0)`),
  syscall('accounting', 'to have the kernel write a file', python`refused('acct', b'/scratch/acct')`),
  syscall(
    'quota',
    'to set quotas of the disk',
    python`refused('quotactl', 0x80000700 & 0x7fffffff, b'/dev/vda', 0, None)`,
  ),
  syscall(
    'kernel log',
    'to read the log of the kernel',
    python`
result, error = call('syslog', 3, ctypes.create_string_buffer(4096), 4096)
# gVisor answers with a log of its own, that says nothing of the host.
if result == -1: say('contained', error)
else:
    got = ctypes.create_string_buffer(4096)
    call('syslog', 3, got, 4096)
    say('contained', 'the log of gVisor') if b'gVisor' in got.value else say('escaped', 'the log can be read')`,
  ),
  probe('ports and registers', 'to speak to the hardware', {
    python: python`
if platform.machine() != 'x86_64': say('contained', 'there are none on this machine')
else: refused('iopl', 3)`,
  }),
  probe('calls that nobody needs', 'to use what has undone kernels before and is of no use in here', {
    python: python`
# By number, with arguments that are none: whoever comes through is told that they are, not that he must not.
x86 = {'request_key': 249, 'kcmp': 312, 'process_vm_readv': 310, 'process_vm_writev': 311, 'process_madvise': 440, 'pidfd_getfd': 438, 'fanotify_init': 300, 'fanotify_mark': 301,
  'io_uring_enter': 426, 'io_uring_register': 427, 'mount_setattr': 442, 'move_mount': 429, 'fsconfig': 431, 'fsmount': 432, 'fspick': 433, 'open_tree_attr': 467,
  'mbind': 237, 'set_mempolicy': 238, 'migrate_pages': 256, 'move_pages': 279, 'statmount': 457, 'listmount': 458, 'listns': 470,
  'clock_settime': 227, 'clock_adjtime': 305, 'adjtimex': 159, 'vhangup': 153, 'ustat': 136, 'sysfs': 139, 'delete_module': 176, 'kexec_file_load': 320, 'quotactl_fd': 443, 'lsm_set_self_attr': 460, 'lookup_dcookie': 212, 'uselib': 134,
  # Of the x32 architecture, whose numbers get around a filter that only compares numbers.
  'socket of x32': 41 + 0x40000000}
if platform.machine() != 'x86_64': say('contained', 'numbers are of x86-64')
else:
    # Where nonsense is refused before it is looked at who asks: as everybody may who is let.
    sensible = {'fanotify_init': (0x200, 0)}
    def told(name, number):
        child = os.fork()
        if child == 0:
            r = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, sensible.get(name, [-1] * 6)))
            os._exit(0 if r != -1 else ctypes.get_errno() or 255)
        status = os.waitpid(child, 0)[1]
        return 'EPERM' if os.WIFSIGNALED(status) else errno.errorcode.get(os.WEXITSTATUS(status), '')
    all_refused({name: told(name, number) for name, number in x86.items()})`,
  }),
];
