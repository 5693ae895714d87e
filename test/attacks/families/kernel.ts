import type { Family } from '../attack.ts';
import { probe } from '../probes.ts';

const python = String.raw;

/** A namespace that could be made, by either call. */
const namespace = (name: string, flag: number) =>
  probe(`${name} namespace`, `to be root in a new ${name} namespace`, {
    python: python`
made, error = call('unshare', ${flag})
child, cloned = call('clone', ${flag} | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0: os._exit(0)
if made == 0 or child > 0: kernel_gave('a ${name} namespace was made')
else: say('contained', 'unshare: ' + error + ', clone: ' + cloned)`,
  });

const syscall = (name: string, tries: string, call: string) => probe(name, tries, { python: call });

/** The kernel below: namespaces, mounts, devices, and what only its owner may ask of it. */
export const kernel: Family = {
  name: 'kernel',
  title: 'the kernel: namespaces, mounts, devices, privileged calls',
  attacks: [
    namespace('user', 0x1000_0000),
    namespace('mount', 0x2_0000),
    namespace('network', 0x4000_0000),
    namespace('process', 0x2000_0000),
    namespace('user and mount', 0x1002_0000),
    probe('clone3', 'to make a namespace by the call whose flags no filter sees', {
      python: python`
args = struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
child, error = call('clone3', ctypes.create_string_buffer(args), 64)
if child == 0: os._exit(0)
kernel_gave('a user namespace was made') if child > 0 else say('contained', error)`,
    }),
    probe('unshare program', 'to be root by the program of that name', {
      sh: `out=$(unshare -Urm sh -c 'id -u; mount -t tmpfs none /mnt' 2>&1) && echo "escaped: $out" || echo "contained: $out" | tr '\\n' ' '; echo`,
    }),
    probe('setns', 'to join the namespaces of the first process', {
      python: python`
joined = []
for kind in ('mnt', 'net', 'pid', 'user', 'ipc', 'uts', 'cgroup'):
    try: fd = os.open('/proc/1/ns/' + kind, os.O_RDONLY)
    except OSError: continue
    if call('setns', fd, 0)[0] == 0: joined.append(kind)
say('escaped', joined) if joined else say('contained', 'none can be joined')`,
    }),
    syscall(
      'mount',
      'to mount a file system of its own',
      python`refused('mount', b'none', b'/tmp', b'tmpfs', 0, None)`,
    ),
    syscall(
      'bind mount',
      'to see the file system of the host by a bind mount',
      python`refused('mount', b'/', b'/tmp', None, 0x1000, None)`,
    ),
    syscall(
      'remount',
      'to make the root writable',
      python`refused('mount', b'none', b'/', None, 0x20 | 0x1000, None)`,
    ),
    syscall('new mount calls', 'to mount by the newer calls', python`refused('fsopen', b'tmpfs', 0)`),
    syscall('open_tree', 'to clone the tree of mounts', python`refused('open_tree', -100, b'/', 1)`),
    probe('masks', 'to take away what the engine mounted over files of the kernel', {
      python: python`
done = [p for p in ('/proc/keys', '/sys/firmware', '/proc/sys', '/proc/timer_list', '/etc/hosts', '/workspace')
        if call('umount2', p.encode(), 2)[0] == 0]
say('escaped', 'unmounted ' + ', '.join(done)) if done else say('contained', 'nothing can be unmounted')`,
    }),
    syscall('pivot_root', 'to put another root in its place', python`refused('pivot_root', b'/', b'/tmp')`),
    probe('chroot', 'to leave by a second root and a directory kept open', {
      python: python`
fd = os.open('/', os.O_RDONLY)
os.makedirs('/scratch/jail', exist_ok=True)
result, error = call('chroot', b'/scratch/jail')
if result == -1: say('contained', 'chroot: ' + error)
else:
    os.fchdir(fd)
    for _ in range(64): os.chdir('..')
    call('chroot', b'.')
    say('escaped', 'chroot was let through') if os.path.exists(os.environ['CANARY_FILE']) else say('contained', 'the root is still that of the container')`,
    }),
    probe('device nodes', 'to make the disk of the host as a device of its own', {
      python: python`
made = []
for where in ('/workspace', '/scratch', '/tmp', '/dev', '/dev/shm'):
    for mode, numbers_ in ((stat.S_IFBLK, (8, 0)), (stat.S_IFBLK, (254, 0)), (stat.S_IFCHR, (1, 1)), (stat.S_IFCHR, (10, 200))):
        path = where + '/node-%d-%d' % numbers_
        try:
            os.mknod(path, mode | 0o666, os.makedev(*numbers_)); made.append(path)
            opened = opens(path)
            os.unlink(path)
            if opened == '': kernel_gave('can open ' + path); sys.exit(0)
        except OSError: pass
say('contained', 'no device can be made' if not made else 'devices can be made, not opened')`,
    }),
    probe('added devices', 'to find a device that leads somewhere', {
      python: python`
# The last two are gVisor's own: they end in its kernel.
harmless = {'null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'console'} | ({'fuse', 'tun'} if own_kernel else set())
found = []
for folder, _, names in os.walk('/dev'):
    for name in names:
        path = os.path.join(folder, name)
        mode = os.lstat(path).st_mode
        if (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) and name not in harmless and not folder.startswith('/dev/pts'): found.append(path)
say('escaped', found) if found else say('contained', 'there are ' + ', '.join(sorted(set(os.listdir('/dev')) & harmless)))`,
    }),
    syscall(
      'keyring',
      'to read and plant keys of the kernel’s keyring',
      python`refused('add_key', b'user', b'attack', b'payload', 7, -3)`,
    ),
    syscall('keyctl', 'to search the keyrings of others', python`refused('keyctl', 0, -4, 1)`),
    probe('keys in /proc', 'to see the keys of the host', {
      sh: `n=$(cat /proc/keys /proc/key-users 2>/dev/null | grep -c 'keyring\\|user:'); test "$n" -eq 0 && echo "contained: no key is seen" || echo "escaped: $n keys are seen"`,
    }),
    syscall(
      'bpf',
      'to load a program into the kernel',
      python`refused('bpf', 0, ctypes.create_string_buffer(128), 128)`,
    ),
    probe('bpf by a socket filter', 'to have a classic filter look at packets of others', {
      python: python`
try: s = socket.socket(17, socket.SOCK_RAW, 0x0300); say('escaped', 'a packet socket was made')
except OSError as e: say('contained', 'packet socket: ' + errno.errorcode[e.errno])`,
    }),
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
result, error = call('userfaultfd', 0)
kernel_gave('userfaultfd was let through') if result != -1 else say('contained', error)`,
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
# With magic numbers that are none: where the call comes through, it fails otherwise.
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
text = '' if result == -1 else error
# gVisor answers with a log of its own, that says nothing of the host.
if result == -1: say('contained', error)
else:
    got = ctypes.create_string_buffer(4096)
    call('syslog', 3, got, 4096)
    say('contained', 'the log of gVisor') if b'gVisor' in got.value else say('escaped', 'the log can be read')`,
    ),
    probe('capabilities', 'to get capabilities by asking, or by being root', {
      python: python`
status = dict(line.split(':\t', 1) for line in open('/proc/self/status').read().splitlines() if ':\t' in line)
held = {k: status.get(k, '0') for k in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}
some = [k for k, v in held.items() if int(v, 16) != 0]
became = []
for name in ('setuid', 'setgid'):
    if call(name, 0)[0] == 0: became.append(name)
header = ctypes.create_string_buffer(struct.pack('Ii', 0x20080522, 0))
full = ctypes.create_string_buffer(struct.pack('IIIIII', *[0xffffffff] * 6))
if call('capset', header, full)[0] == 0: became.append('capset')
if call('prctl', 8, 1, 0, 0, 0)[0] == 0 and os.geteuid() == 0: became.append('keepcaps')
say('escaped', str(some + became)) if some or became or os.geteuid() == 0 else say('contained', 'none, nor root')`,
    }),
    probe('set-uid programs', 'to become root by a program with that bit', {
      python: python`
found = []
for folder, _, names in os.walk('/'):
    if folder.startswith(('/proc', '/sys')): continue
    for name in names:
        try: mode = os.lstat(os.path.join(folder, name)).st_mode
        except OSError: continue
        if stat.S_ISREG(mode) and mode & 0o6000: found.append(os.path.join(folder, name))
nnp = [l for l in open('/proc/self/status') if l.startswith('NoNewPrivs:')]
if found: say('escaped', found)
elif nnp and '1' not in nnp[0]: say('escaped', 'new privileges can be had')
else: say('contained', 'there is none, and it would have no effect')`,
    }),
    probe('own set-uid program', 'to plant a program that whoever runs it is the owner of', {
      sh: `cp /usr/bin/id /scratch/id && chmod 6755 /scratch/id; u=$(/scratch/id -u); test "$u" = "$(id -u)" && echo "contained: it runs as $u" || echo "escaped: it runs as $u"; rm -f /scratch/id`,
    }),
    probe('ports and registers', 'to speak to the hardware', {
      python: python`
if platform.machine() != 'x86_64': say('contained', 'there are none on this machine')
else: refused('iopl', 3)`,
    }),
    probe('vulnerable runc', 'to overwrite the program that starts containers (CVE-2019-5736)', {
      python: python`
own = os.path.realpath('/proc/self/exe')
bad = []
for name in os.listdir('/proc'):
    if not name.isdigit(): continue
    exe = '/proc/' + name + '/exe'
    if opens(exe, os.O_WRONLY) == '' or opens(exe, os.O_RDWR) == '': bad.append(os.path.realpath(exe))
say('escaped', bad) if bad else say('contained', 'no running program can be written')`,
    }),
    probe('leaked descriptors', 'to reach the host by a descriptor that was left open (CVE-2024-21626)', {
      python: python`
bad = []
for name in os.listdir('/proc'):
    if not name.isdigit(): continue
    for kind in ('fd', 'cwd', 'root'):
        places = ['/proc/%s/%s' % (name, kind)]
        if kind == 'fd':
            try: places = [places[0] + '/' + n for n in os.listdir(places[0])]
            except OSError: continue
        for place in places:
            try:
                if not stat.S_ISDIR(os.stat(place).st_mode): continue
                for up in ('', '/..', '/../..', '/../../..', '/../../../..'):
                    if os.path.exists(place + up + os.environ['CANARY_FILE']): bad.append(place + up)
            except OSError: pass
say('escaped', bad) if bad else say('contained', 'none leads out')`,
    }),
  ],
};
