import { join } from 'node:path';
import { contained, escaped, type Family } from '../attack.ts';
import { readableByOthers } from '../host.ts';
import { probe, runScript } from '../probes.ts';

const python = String.raw;

/** What lies on the host: files, secrets of processes, knobs of the kernel. */
export const hostFiles: Family = {
  name: 'host-files',
  title: 'reading and writing what is the host’s',
  attacks: [
    probe('canary by its path', 'to read a file of the host by its own path', {
      sh: `cat "$CANARY_FILE" 2>/dev/null && echo "escaped: read" || echo "contained: there is no such path"`,
    }),
    probe('canary by search', 'to find that file anywhere', {
      sh: `f=$(find / \\( -path /proc -o -path /sys \\) -prune -o -path '*guarded-canary*' -print 2>/dev/null | head -1); test -z "$f" && echo "contained: nothing of that name" || echo "escaped: $f"`,
    }),
    probe('mounts', 'to find something of the host that was mounted into it', {
      python: python`
own = {'/', '/workspace', '/tmp', '/scratch', '/etc/hosts', '/etc/hostname', '/etc/resolv.conf'}
points = [line.split()[4] for line in open('/proc/self/mountinfo')]
odd = [p for p in points if p not in own and not p.endswith('/docker-init') and not (p + '/').startswith(('/proc/', '/sys/', '/dev/'))]
say('escaped', odd) if odd or '/workspace' not in points else say('contained', 'its workspace alone')`,
    }),
    probe('passwords', 'to read the passwords of the host', {
      python: python`unreadable('/etc/shadow', '/etc/gshadow', '/proc/1/root/etc/shadow')`,
    }),
    probe('home of root', 'to read what root keeps', {
      python: python`
try: say('escaped', os.listdir('/root'))
except OSError as e: say('contained', errno.errorcode[e.errno])`,
    }),
    probe('docker.sock', 'to command the engine', {
      python: python`
found = []
for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock', '/run/podman/podman.sock'):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path); found.append(path)
    except OSError: pass
say('escaped', found) if found else say('contained', 'no socket of an engine is there')`,
    }),
    probe('/proc/1/root', 'to reach the host by the root of the first process', {
      python: python`
same = True
try: same = os.path.exists('/proc/1/root' + os.environ['CANARY_FILE'])
except OSError: same = False
say('escaped', 'the canary is there') if same else say('contained', 'it is the container’s own, or closed')`,
    }),
    probe('environment of the first process', 'to read secrets of init', {
      python: python`
try: text = open('/proc/1/environ', 'rb').read()
except OSError as e: text = b''; say('contained', errno.errorcode[e.errno])
else: say('escaped', 'a canary is there') if b'CANARY' in text else say('contained', 'nothing of the worker is in it')`,
    }),
    probe('environment of all processes', 'to read secrets of the worker in the tool server', {
      python: python`
names = set()
for pid in os.listdir('/proc'):
    if not pid.isdigit() or int(pid) == os.getpid(): continue
    try: names |= {v.split(b'=')[0].decode() for v in open('/proc/' + pid + '/environ', 'rb').read().split(b'\0') if v}
    except OSError: pass
known = {'PATH', 'LANG', 'TERM', 'HOME', 'TMPDIR', 'GOTMPDIR', 'PYTHONDONTWRITEBYTECODE', 'HOSTNAME'}
# What this script itself was given, and what the tool server marks runs with.
known |= {'CANARY_FILE', 'CANARY_FIRED', 'SNAPSHOT', 'PATCHFLEET_RUN', 'PWD', 'OLDPWD', 'SHLVL', '_'}
odd = sorted(n for n in names - known if any(w in n.upper() for w in ('TOKEN', 'KEY', 'SECRET', 'PASSWORD', 'DATABASE', 'REDIS', 'GITHUB', 'DOCKER', 'ATTACK')))
say('escaped', odd) if odd else say('contained', 'no name that sounds of a secret')`,
    }),
    probe('memory of the tool server', 'to find secrets in its memory', {
      python: python`
pid = tool_server()
try:
    spans = [l.split() for l in open('/proc/%d/maps' % pid)]
    memory = open('/proc/%d/mem' % pid, 'rb')
except OSError as e: say('contained', errno.errorcode[e.errno]); sys.exit(0)
marks = (b'PATCHFLEET_ATTACK' + b'_CANARY', b'ghs' + b'_', b'PRIVATE' + b' KEY-----\nM')
found, looked = set(), 0
for span in spans:
    if 'r' not in span[1] or 'w' not in span[1]: continue
    a, b = (int(x, 16) for x in span[0].split('-'))
    if b - a > 64 << 20: continue
    try: memory.seek(a); data = memory.read(b - a)
    except (OSError, ValueError, OverflowError): continue
    looked += len(data)
    found |= {m for m in marks[:1] if m in data}
say('escaped', found) if found else say('contained', 'there is none in the %d MiB that can be read' % (looked >> 20))`,
    }),
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
    probe('sysrq', 'to make the machine crash', {
      python: python`unreadable('/proc/sysrq-trigger', flags=os.O_WRONLY)`,
    }),
    probe('core_pattern', 'to have the host run a program when one crashes', {
      python: python`unreadable('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/kernel/hotplug', '/sys/kernel/uevent_helper', flags=os.O_WRONLY)`,
    }),
    probe('sysctls', 'to change settings of the kernel', {
      python: python`
writable = []
for folder, _, names in os.walk('/proc/sys'):
    for name in names:
        if opens(os.path.join(folder, name), os.O_WRONLY) == '': writable.append(os.path.join(folder, name))
say('escaped', writable[:5]) if writable else say('contained', 'none can be opened to write')`,
    }),
    probe('/sys', 'to change devices of the host', {
      python: python`
writable, looked = [], 0
for folder, _, names in os.walk('/sys'):
    for name in names:
        looked += 1
        if looked > 4000: break
        if opens(os.path.join(folder, name), os.O_WRONLY) == '': writable.append(os.path.join(folder, name))
say('escaped', writable[:5]) if writable else say('contained', 'none can be opened to write')`,
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
say('escaped', done[:5]) if done else say('contained', '%d files, none can be written; no group can be made' % tried)`,
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
    try: resource.setrlimit(kind, (hard, hard + 1)); raised.append(name)
    except (ValueError, OSError): pass
try: os.nice(-5)
except OSError: pass
else:
    if not own_kernel: raised.append('nice')
say('escaped', raised) if raised else say('contained', 'none can be raised')`,
    }),
    probe('out-of-memory order', 'to have others killed in its place', {
      python: python`
try:
    before = int(open('/proc/self/oom_score_adj').read())
    open('/proc/self/oom_score_adj', 'w').write('-1000')
    after = int(open('/proc/self/oom_score_adj').read())
    kernel_gave('it is now %d' % after) if after < 0 else say('contained', 'it stays %d' % after)
except OSError as e: say('contained', errno.errorcode[e.errno])`,
    }),
    probe('processes of the host', 'to see or signal processes of others', {
      python: python`
others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 1]
foreign = []
for p in others:
    try: text = open('/proc/' + p + '/cmdline', 'rb').read()
    except OSError: continue
    if any(w in text for w in (b'dockerd', b'containerd', b'vitest', b'systemd')): foreign.append(text[:40])
say('escaped', foreign) if foreign else say('contained', 'sees %d processes, all of its own' % len(others))`,
    }),
    probe('snapshot', 'to change what all workspaces are made of', {
      python: python`
seen = [p for p in (os.environ['SNAPSHOT'], '/proc/1/root' + os.environ['SNAPSHOT']) if os.path.exists(p)]
say('escaped', seen) if seen else say('contained', 'it is not to be seen')`,
    }),
    probe('neighbour’s workspace', 'to read what another attempt writes', {
      python: python`
found = []
for root in ('/', '/workspace/..', '/proc/1/cwd', '/proc/self/cwd/..'):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in ('/proc', '/sys', '/usr', '/lib', '/opt')]
        if 'private.txt' in names: found.append(folder)
        if folder.count('/') > 6: folders[:] = []
say('escaped', found) if found else say('contained', 'only its own can be found')`,
    }),
    probe('paths of the host', 'to reach the host by paths that the list of mounts tells', {
      python: python`
reached = []
for line in open('/proc/self/mountinfo'):
    fields = line.split()
    for path in {fields[3]} | {o.split('=', 1)[1].split(':')[0] for o in fields[-1].split(',') if 'dir=/' in o}:
        if len(path) > 1 and not path.startswith(('/proc', '/sys')) and os.path.isdir(path) and os.path.exists(path + '/private.txt'): reached.append(path)
say('escaped', reached) if reached else say('contained', 'they lead nowhere in here')`,
    }),
    probe('program files', 'to change the tool server, node or git for whoever comes next', {
      python: python`
writable = []
for root in ('/opt', '/usr', '/etc', '/lib', '/bin', '/sbin', '/var', '/home'):
    for folder, _, names in os.walk(root):
        if os.access(folder, os.W_OK): writable.append(folder)
        writable += [os.path.join(folder, n) for n in names if os.access(os.path.join(folder, n), os.W_OK) and not os.path.islink(os.path.join(folder, n))]
say('escaped', writable[:5]) if writable else say('contained', 'none can be written')`,
    }),
    {
      name: 'other users of the host',
      tries: 'to have what it wrote read, or run, by others who are on its machine',
      async run(stage) {
        const sh =
          'cp /usr/bin/id open-to-all && chmod 6777 open-to-all . && echo x > text && chmod 666 text';
        const outcome = await runScript(await stage.target(), { sh });
        if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
        const { home } = stage.setting;
        const read = ['workspaces', 'snapshots'].flatMap((name) => readableByOthers(join(home, name)));
        return read.length === 0
          ? contained('nobody but the worker gets into its directory')
          : escaped(`others may read ${read.length} files, such as ${read[0]}`);
      },
    },
  ],
};
