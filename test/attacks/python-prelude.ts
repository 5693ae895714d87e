/** What scripts in Python begin with: system calls by number or name, and words for what came of them. */
export const pythonPrelude = String.raw`
import ctypes, errno, os, platform, signal, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == 'aarch64'
numbers = {
    'pivot_root': (155, 41), 'syslog': (103, 116), 'keyctl': (250, 219), 'add_key': (248, 217), 'bpf': (321, 280),
    'perf_event_open': (298, 241), 'userfaultfd': (323, 282), 'kexec_load': (246, 104), 'init_module': (175, 105),
    'finit_module': (313, 273), 'io_uring_setup': (425, 425), 'open_tree': (428, 428), 'fsopen': (430, 430),
    'clone3': (435, 435), 'clone': (56, 220), 'quotactl': (179, 60), 'mount_setattr': (442, 442),
    'memfd_create': (319, 279), 'settimeofday': (164, 170), 'ioprio_set': (251, 30),
    'setrlimit': (160, 164), 'prlimit64': (302, 261),
}

def call(name, *args):
    """The result of a system call and the name of its error, or ''."""
    ctypes.set_errno(0)
    fixed = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    if name in numbers:
        result = libc.syscall(ctypes.c_long(numbers[name][1 if arm else 0]), *fixed)
    else:
        result = getattr(libc, name)(*fixed)
    return result, errno.errorcode.get(ctypes.get_errno(), '') if result == -1 else ''

def say(word, text):
    print(word + ': ' + str(text).replace('\n', ' '), flush=True)

# gVisor: system calls end in a kernel of the sandbox's own, which has nothing of the host's to give.
own_kernel = os.environ.get('RUNTIME', '').startswith('runsc')

def kernel_gave(what):
    """Says what the kernel let happen: that of the host must not, one of the sandbox's own may."""
    if own_kernel: say('contained', 'in the kernel of gVisor alone: ' + str(what))
    else: say('escaped', what)

# How a right is denied. Any other error is one of the attack itself: it got to where it was looked at.
denials = ('EPERM', 'EACCES', 'ENOSYS', 'EROFS', 'ENODEV')

def all_refused(results):
    """Says contained if each of these was denied, by its error ('': it worked)."""
    through = [str(k) + (': ' + v if v else '') for k, v in results.items() if v not in denials]
    if not results: say('untried', 'there was nothing to try it on')
    elif through: kernel_gave('was let through: ' + ', '.join(through))
    else: say('contained', ', '.join(sorted({v for v in results.values()})) + ' for each of %d' % len(results))

def refused(name, *args):
    """Says contained if the call fails for want of a right, escaped if it works."""
    result, error = call(name, *args)
    if result != -1: kernel_gave(name + ' was let through')
    elif error in denials: say('contained', name + ': ' + error)
    else: kernel_gave(name + ' was let through to fail otherwise: ' + error)
    return result

def opens(path, flags=os.O_RDONLY):
    """'' where it can be opened, else the error."""
    try: os.close(os.open(path, flags | os.O_NONBLOCK)); return ''
    except OSError as e: return errno.errorcode.get(e.errno, str(e))

def unreadable(*paths, flags=os.O_RDONLY):
    """Says contained if none of them can be opened."""
    got = {p: opens(p, flags) for p in paths}
    open_ones = [p for p, e in got.items() if e == '']
    if not own_kernel and all(e == 'ENOENT' for e in got.values()): say('untried', 'there is no such file')
    elif open_ones: say('escaped', 'can open ' + ', '.join(open_ones))
    else: say('contained', ', '.join(p + ': ' + e for p, e in got.items()))

def hold():
    """Tells the outside that it has what it wants to hold, and holds it until it is told that that is enough."""
    open('/workspace/holding', 'w').close()
    while not os.path.exists('/workspace/enough'): time.sleep(0.02)

def tool_server():
    """Its process id."""
    for name in os.listdir('/proc'):
        if not name.isdigit() or int(name) in (1, os.getpid()): continue
        try: args = open('/proc/' + name + '/cmdline', 'rb').read().split(b'\0')
        except OSError: continue
        if any(b'tool-server' in a for a in args) and b'docker-init' not in args[0] and b'/dev/init' not in args[0]:
            return int(name)
    say('untried', 'the tool server is not to be found'); sys.exit(0)
`;
