import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Attack } from '../../attack.ts';
import { verdictOf, whileItHolds } from '../../probes.ts';
import { outside } from './reaching.ts';

const python = String.raw;

/** Sockets that no network namespace holds, and what makes networks. */
export const sockets: readonly Attack[] = [
  outside(
    'raw sockets',
    'to send packets of its own making',
    python`
made = []
for family, proto in ((socket.AF_INET, 255), (socket.AF_INET, 6), (socket.AF_INET6, 58), (17, 0x0300)):
    try: socket.socket(family, socket.SOCK_RAW, proto).close(); made.append((family, proto))
    except OSError: pass
say('escaped', made) if made else say('contained', 'none can be made')`,
  ),
  outside(
    'vsock',
    'to reach the machine that runs this one',
    python`
# No connection is tried: what could be asked for by it must not be touched.
made = []
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, 5):
    try: socket.socket(40, kind).close(); made.append(kind)
    except OSError: pass
say('escaped', 'sockets can be made') if made else say('contained', 'no such socket can be made')`,
  ),
  outside(
    'odd families',
    'to find a family of sockets that no namespace holds',
    python`
results = {}
def make(name, *what):
    try: socket.socket(*what).close(); results[name] = ''
    except OSError as e: results[name] = errno.errorcode[e.errno]
for family in range(46):
    if family in (1, 2, 10, 16): continue
    for kind in (1, 2, 3, 5): make((family, kind), family, kind)
# Netlink is many families by one name: audit, firewall, ciphers, devices. The first is that of its own interfaces.
for protocol in range(1, 32): make('netlink %d' % protocol, socket.AF_NETLINK, socket.SOCK_RAW, protocol)
# One that this kernel lacks must be refused as well: another has it.
all_refused(results)`,
  ),
  outside(
    '32-bit calls',
    'to get around the filter by the calls of another architecture',
    python`
import mmap
if platform.machine() != 'x86_64' or own_kernel: say('contained', 'there are none here'); sys.exit(0)
child = os.fork()
if child == 0:
    # mov eax, 359 (socket); mov ebx, 40; mov ecx, 1; xor edx, edx; int 0x80; ret
    code = b'\x53\xb8\x67\x01\x00\x00\xbb\x28\x00\x00\x00\xb9\x01\x00\x00\x00\x31\xd2\xcd\x80\x5b\xc3'
    m = mmap.mmap(-1, 4096, prot=7); m.write(code)
    f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    os._exit(1 if f() >= 0 else 0)
status = os.waitpid(child, 0)[1]
say('escaped', 'a vsock socket was made') if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1 else say('contained', 'killed by the filter' if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS else 'this kernel has none')`,
  ),
  outside(
    'interfaces',
    'to find an interface that leads somewhere',
    python`
names = sorted(n for _, n in socket.if_nameindex())
say('contained', ', '.join(names)) if names in (['lo'], []) else say('escaped', names)`,
  ),
  outside(
    'netlink',
    'to make interfaces, addresses and routes',
    python`
results = {}
def ask(what, kind, body):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.settimeout(2)
    s.send(struct.pack('IHHII', 16 + len(body), kind, 0x605, 1, 0) + body)
    error = -struct.unpack('i', s.recv(4096)[16:20])[0]
    results[what] = errno.errorcode.get(error, '')
# A new dummy interface; an address for lo; a route.
attr = struct.pack('HH', 8 + 12, 18) + struct.pack('HH', 9, 1) + b'dummy\0\0\0'
ask('link', 16, struct.pack('BxHiII', 0, 0, 0, 0, 0) + struct.pack('HH', 12, 3) + b'attack0\0' + attr)
ask('address', 20, struct.pack('BBBBI', 2, 24, 0, 0, 1) + struct.pack('HH', 8, 2) + socket.inet_aton('10.9.8.7'))
ask('route', 24, struct.pack('BBBBBBBBI', 2, 0, 0, 0, 254, 4, 0, 1, 0) + struct.pack('HHI', 8, 4, 1))
all_refused(results)`,
  ),
  outside(
    'a way out that was not given',
    'to find the proxy of attempts that may reach something',
    python`
found = [p for p in ('/run/patchfleet/egress.sock', '/run/patchfleet') if os.path.exists(p)]
if connects(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 3128)) == '': found.append('port 3128')
names = [v for v in os.environ if 'proxy' in v.lower()]
say('escaped', found + names) if found or names else say('contained', 'there is none')`,
  ),
  {
    name: 'events of the host',
    tries: 'to hear what becomes of devices of the host',
    async run(stage) {
      const sandbox = await stage.target();
      const mark = randomUUID();
      const script = python`
heard, s = b'', None
try:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15); s.bind((0, 1)); s.settimeout(0.5)
except OSError as e: say('contained', errno.errorcode[e.errno])
hold()
try:
    while s is not None: heard += s.recv(8192)
except OSError: pass
if '${mark}'.encode() in heard: say('escaped', 'it was heard')
elif s is not None: say('contained', 'it listens, and nothing is heard')`;
      const { held } = await whileItHolds({ sandbox, script, env: { RUNTIME: stage.runtime } }, async () =>
        // As if a device of no account had changed: the kernel tells whoever listens.
        writeFile('/sys/devices/virtual/mem/null/uevent', `change ${mark}`).catch(() => {}),
      );
      if ('died' in held) throw new Error(`the sandbox ended: ${held.died}`);
      return verdictOf(held.ran);
    },
  },
];
