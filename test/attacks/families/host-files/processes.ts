import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

/** Secrets of processes, and the processes themselves. */
export const processes: readonly Attack[] = [
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
if odd: say('escaped', odd)
else: say('contained', 'none of %d names sounds of a secret' % len(names)) if names else say('untried', 'no environment can be read')`,
  }),
  probe('memory of the tool server', 'to find secrets in its memory', {
    python: python`
pid = tool_server()
try:
    spans = [l.split() for l in open('/proc/%d/maps' % pid)]
    memory = open('/proc/%d/mem' % pid, 'rb')
except OSError as e: say('contained', errno.errorcode[e.errno]); sys.exit(0)
# Put together here, so that this script is not what is found.
mark = b'PATCHFLEET_ATTACK' + b'_CANARY'
found, looked = False, 0
for span in spans:
    if 'r' not in span[1] or 'w' not in span[1]: continue
    a, b = (int(x, 16) for x in span[0].split('-'))
    if b - a > 64 << 20: continue
    try: memory.seek(a); data = memory.read(b - a)
    except (OSError, ValueError, OverflowError): continue
    looked += len(data)
    found = found or mark in data
if looked == 0: say('untried', 'nothing of it could be read')
else: say('escaped', 'the environment of the worker is there') if found else say('contained', 'there is none in the %d MiB that can be read' % (looked >> 20))`,
  }),
  probe('processes of the host', 'to see or signal processes of others', {
    python: python`
others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 1]
foreign = []
for p in others:
    try: text = open('/proc/' + p + '/cmdline', 'rb').read()
    except OSError: continue
    if any(w in text for w in (b'dockerd', b'containerd', b'vitest', b'systemd')): foreign.append(text[:40])
own = len(others) < 10
say('escaped', foreign or '%d processes are seen' % len(others)) if foreign or not own else say('contained', 'sees %d processes, all of its own' % len(others))`,
  }),
];
