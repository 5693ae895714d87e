import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

const syscall = (name: string, tries: string, call: string) => probe(name, tries, { python: call });

/** What lies where: mounts, roots, devices. */
export const mounts: readonly Attack[] = [
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
all_refused({p: call('umount2', p.encode(), 2)[1] for p in ('/proc/keys', '/sys/firmware', '/proc/sys', '/proc/timer_list', '/etc/hosts', '/workspace', '/') if os.path.lexists(p)})`,
  }),
  probe(
    'masks that are none',
    'to find a file of the kernel under what was mounted over it (CVE-2025-31133)',
    {
      python: python`
hidden = ('kcore', 'keys', 'kallsyms', 'interrupts', 'timer_list', 'timer_stats', 'latency_stats', 'sched_debug', 'acpi', 'asound', 'scsi')
seen, through = 0, []
def look(path, bare):
    global seen
    try:
        if not bare(os.stat(path)): through.append(path)
        seen += 1
    # Not there, or closed.
    except OSError: pass
def is_empty(status):
    if stat.S_ISDIR(status.st_mode): return os.listdir(path) == []
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == os.makedev(1, 3)
for path in ['/proc/' + name for name in hidden] + ['/sys/firmware', '/sys/devices/virtual/powercap']: look(path, is_empty)
for path in ('/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs', '/sys'): look(path, lambda _: os.statvfs(path).f_flag & os.ST_RDONLY)
if through: kernel_gave(through)
elif seen == 0 and not own_kernel: say('untried', 'there is none of these files')
else: say('contained', '%d are empty, or read-only' % seen)`,
    },
  ),
  probe(
    'mounts within its reach',
    'to swap a directory for a symlink where something is mounted (CVE-2021-30465)',
    {
      python: python`
points = [line.split()[4] for line in open('/proc/self/mountinfo')]
within = [p for p in points for own in ('/workspace/', '/tmp/', '/scratch/', '/dev/shm/') if p.startswith(own)]
# The directories that mounts lie in, up to the root: none of them can be changed.
above = {p.rsplit('/', n)[0] or '/' for p in points for n in range(1, p.count('/') + 1)}
writable = sorted(d for d in above if os.access(d, os.W_OK))
if within or writable: say('escaped', 'in ' + ', '.join(within + writable))
elif '/workspace' not in points: say('untried', 'its workspace is no mount')
else: say('contained', 'none of %d lies in what it may write' % len(points))`,
    },
  ),
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
made, errors = [], set()
for where in ('/workspace', '/scratch', '/tmp', '/dev', '/dev/shm'):
    for mode, numbers_ in ((stat.S_IFBLK, (8, 0)), (stat.S_IFBLK, (254, 0)), (stat.S_IFCHR, (1, 1)), (stat.S_IFCHR, (10, 200))):
        path = where + '/node-%d-%d' % numbers_
        try:
            os.mknod(path, mode | 0o666, os.makedev(*numbers_)); made.append(path)
            opened = opens(path)
            os.unlink(path)
            if opened == '': kernel_gave('can open ' + path); sys.exit(0)
        except OSError as e: errors.add(errno.errorcode[e.errno])
if not made and not errors & {'EPERM'}: kernel_gave('it was refused for another reason: ' + str(errors))
else: say('contained', 'no device can be made: ' + str(sorted(errors)) if not made else 'devices can be made, not opened')`,
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
if found: say('escaped', found)
elif not os.path.exists('/dev/null'): say('untried', 'there are no devices')
else: say('contained', 'there are ' + ', '.join(sorted(set(os.listdir('/dev')) & harmless)))`,
  }),
];
