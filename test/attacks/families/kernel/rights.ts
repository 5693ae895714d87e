import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

/** Becoming more than it is: capabilities, set-uid programs, what the engine left open. */
export const rights: readonly Attack[] = [
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
def has_capability(path):
    try: return os.getxattr(path, 'security.capability', follow_symlinks=False) != b''
    except OSError: return False
for folder, _, names in os.walk('/'):
    if folder.startswith(('/proc', '/sys')): continue
    for name in names:
        try: mode = os.lstat(os.path.join(folder, name)).st_mode
        except OSError: continue
        if stat.S_ISREG(mode) and (mode & 0o6000 or has_capability(os.path.join(folder, name))): found.append(os.path.join(folder, name))
nnp = [l for l in open('/proc/self/status') if l.startswith('NoNewPrivs:')]
if found: say('escaped', found)
elif not nnp and not own_kernel: say('untried', 'the kernel does not say whether new privileges can be had')
elif nnp and '1' not in nnp[0]: say('escaped', 'new privileges can be had')
else: say('contained', 'there is none, and it would have no effect')`,
  }),
  probe('own set-uid program', 'to plant a program that whoever runs it is root, or has a capability', {
    python: python`
import shutil
errors = {}
for where in ('/workspace', '/scratch', '/tmp', '/dev/shm'):
    path = where + '/planted'
    shutil.copy('/usr/bin/id', path)
    for what, change in (('owner', lambda: os.chown(path, 0, 0)), ('group', lambda: os.chown(path, -1, 0)), ('capability', lambda: os.setxattr(path, 'security.capability', struct.pack('<IIIII', 0x02000001, 1 << 21, 0, 0, 0)))):
        try: change(); errors[where, what] = ''
        except OSError as e: errors[where, what] = 'EPERM' if e.errno in (errno.EPERM, errno.ENOTSUP) else errno.errorcode[e.errno]
    os.chmod(path, 0o6755)
    # The kernel would heed the bit of a program that somebody else has planted there.
    if not os.statvfs(where).f_flag & os.ST_NOSUID and not own_kernel: errors[where, 'nosuid'] = 'is not mounted so'
    if not os.statvfs(where).f_flag & os.ST_NODEV and not own_kernel: errors[where, 'nodev'] = 'is not mounted so'
    os.unlink(path)
all_refused(errors)`,
  }),
  probe('programs among data', 'to run a program from where only data may be', {
    python: python`
import shutil, subprocess
ran = {}
for where in ('/tmp', '/dev/shm'):
    path = where + '/program'
    shutil.copy('/usr/bin/id', path); os.chmod(path, 0o755)
    try: subprocess.run([path], capture_output=True); ran[where] = ''
    except OSError as e: ran[where] = errno.errorcode[e.errno]
    os.unlink(path)
# Where programs may be, the same runs: it is not for another reason that it does not there.
shutil.copy('/usr/bin/id', '/scratch/program'); os.chmod('/scratch/program', 0o755)
if subprocess.run(['/scratch/program'], capture_output=True).returncode != 0: say('untried', 'it runs nowhere')
all_refused(ran)`,
  }),
  probe('vulnerable runc', 'to overwrite the program that starts containers (CVE-2019-5736)', {
    python: python`
own = os.path.realpath('/proc/self/exe')
bad, looked = [], 0
for name in os.listdir('/proc'):
    if not name.isdigit(): continue
    looked += 1
    exe = '/proc/' + name + '/exe'
    if opens(exe, os.O_WRONLY) == '' or opens(exe, os.O_RDWR) == '': bad.append(os.path.realpath(exe))
say('escaped', bad) if bad else say('contained', 'none of %d running programs can be written' % looked) if looked > 1 else say('untried', 'no program is seen')`,
  }),
  probe('leaked descriptors', 'to reach the host by a descriptor that was left open (CVE-2024-21626)', {
    python: python`
bad, looked = [], 0
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
                looked += 1
                for up in ('', '/..', '/../..', '/../../..', '/../../../..'):
                    if os.path.exists(place + up + os.environ['CANARY_FILE']): bad.append(place + up)
            except OSError: pass
say('escaped', bad) if bad else say('contained', 'none of %d leads out' % looked) if looked else say('untried', 'no directory is seen')`,
  }),
];
