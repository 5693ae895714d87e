import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

/** What the kernel offers as files, and limits that are set there. */
export const knobs: readonly Attack[] = [
  probe('kernel memory', 'to read the memory of the host', {
    python: python`
got = []
for path in ('/proc/kcore', '/dev/mem', '/dev/kmem', '/dev/port', '/proc/kmsg', '/dev/kmsg', '/proc/kallsyms'):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        data = os.read(fd, 4096)
        # Addresses are hidden from whoever is not root.
        if path.endswith('kallsyms') and not data.strip(b'0').strip() or path.endswith('kallsyms') and data.startswith(b'0000000000000000'): continue
        if data: got.append(path)
    except OSError: pass
say('escaped', got) if got else say('contained', 'none can be read')`,
  }),
  probe('dmesg', 'to read the log of the host', {
    sh: `out=$(dmesg 2>&1 | head -3 | tr '\\n' ' '); case "$out" in *gVisor*|*ermitted*|*denied*|'') echo "contained: $out";; *) echo "escaped: $out";; esac`,
  }),
  probe('sysrq', 'to make the machine crash, or turn itself off', {
    python: python`unreadable('/proc/sysrq-trigger', '/proc/sys/kernel/sysrq', '/proc/sys/kernel/panic', flags=os.O_WRONLY)`,
  }),
  probe('core_pattern', 'to have the host run a program when one crashes', {
    python: python`unreadable('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/kernel/hotplug', '/sys/kernel/uevent_helper', flags=os.O_WRONLY)`,
  }),
  probe('crash handler', 'to have the host run its handler of crashes over what it left', {
    python: python`
import resource
# The kernel hands nothing to a handler of the host where the limit of a dump is one byte.
core = resource.RLIMIT_CORE
now = lambda: resource.getrlimit(core)
began = now()
none, all_ = ctypes.create_string_buffer(struct.pack('QQ', 0, 0)), ctypes.create_string_buffer(struct.pack('QQ', 1 << 20, 1 << 20))
high = 1 << 32
for value in (none, all_):
    for kind in (core, core | high):
        number = ctypes.c_ulong(kind)
        call('setrlimit', number, value)
        for who in (0, os.getpid(), tool_server()):
            call('prlimit64', who, number, value, None)
            call('prlimit64', who, number, value, ctypes.create_string_buffer(16))
try: resource.setrlimit(core, (0, 0))
except (ValueError, OSError): pass
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSEGV)
_, status = os.waitpid(child, 0)
if not os.WIFSIGNALED(status): say('untried', 'nothing crashed')
elif (began, now()) == ((1, 1), (1, 1)) and not os.WCOREDUMP(status): say('contained', 'the limit stays one byte')
else: kernel_gave('the limit was %s and is %s' % (began, now()))`,
  }),
  probe('sysctls', 'to change settings of the kernel', {
    python: python`
writable, looked = [], 0
for folder, _, names in os.walk('/proc/sys'):
    for name in names:
        looked += 1
        if opens(os.path.join(folder, name), os.O_WRONLY) == '': writable.append(os.path.join(folder, name))
if writable: say('escaped', writable[:5])
else: say('contained', 'none of %d can be opened to write' % looked) if looked else say('untried', 'there are none')`,
  }),
  probe('/sys', 'to change devices of the host', {
    python: python`
writable, looked = [], 0
for folder, _, names in os.walk('/sys'):
    for name in names:
        looked += 1
        if looked > 4000: break
        if opens(os.path.join(folder, name), os.O_WRONLY) == '': writable.append(os.path.join(folder, name))
if writable: say('escaped', writable[:5])
else: say('contained', 'none of %d can be opened to write' % looked) if looked else say('untried', 'there are none')`,
  }),
  probe('release_agent', 'to have the host run a program when a group of processes ends', {
    python: python`
tried, done = 0, []
for folder, folders, names in os.walk('/sys/fs/cgroup'):
    for name in names:
        if name in ('release_agent', 'notify_on_release', 'cgroup.procs', 'tasks', 'memory.limit_in_bytes', 'memory.max', 'pids.max', 'devices.allow', 'cpu.max'):
            tried += 1
            if opens(os.path.join(folder, name), os.O_WRONLY) == '': done.append(os.path.join(folder, name))
    try: os.mkdir(os.path.join(folder, 'mine')); done.append(folder + '/mine')
    except OSError: pass
    if tried > 500: break
if done: say('escaped', done[:5])
else: say('contained', '%d files, none can be written; no group can be made' % tried) if tried or own_kernel else say('untried', 'there are no groups')`,
  }),
  probe('place among the groups', 'to learn where the engine keeps it, and what else is there', {
    python: python`
paths = {line.rstrip().split(':', 2)[2] for line in open('/proc/self/cgroup')}
if not paths: say('contained', 'there are none') if own_kernel else say('untried', 'there are none')
elif paths == {'/'}: say('contained', 'it is the first of all groups that it sees')
else: kernel_gave(sorted(paths))`,
  }),
  probe('limits', 'to raise its own limits', {
    python: python`
import resource
raised = []
for name in ('NOFILE', 'CORE', 'FSIZE', 'MEMLOCK', 'SIGPENDING', 'MSGQUEUE'):
    kind = getattr(resource, 'RLIMIT_' + name, None)
    if kind is None: continue
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY: raised.append(name + ' is unlimited'); continue
    try: resource.setrlimit(kind, (hard, hard + 1))
    except (ValueError, OSError): continue
    # A filter may say that it was done.
    if resource.getrlimit(kind)[1] != hard: raised.append(name)
for name, act in (('nice', lambda: os.nice(-5)), ('a turn before all others', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))):
    try: act()
    except OSError: pass
    else:
        if not own_kernel: raised.append(name)
# Class 1: reads and writes before those of all others.
if call('ioprio_set', 1, 0, 1 << 13)[0] == 0 and not own_kernel: raised.append('disk before all others')
say('escaped', raised) if raised else say('contained', 'none can be raised')`,
  }),
  probe('out-of-memory order', 'to have others killed in its place', {
    python: python`
try:
    if int(open('/proc/%d/oom_score_adj' % tool_server()).read()) <= 0: kernel_gave('others are killed before it')
    open('/proc/self/oom_score_adj', 'w').write('-1000')
    after = int(open('/proc/self/oom_score_adj').read())
    kernel_gave('it is now %d' % after) if after < 0 else say('contained', 'it stays %d' % after)
except OSError as e: say('contained', errno.errorcode[e.errno])`,
  }),
];
