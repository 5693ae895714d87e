import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Attack, escaped, type Family } from '../attack.ts';
import { probe, runScript, type Script, verdictOf } from '../probes.ts';

const python = String.raw;

/** What scripts of this family begin with. */
const tools = python`
hosts = os.environ.get('HOSTS', '').split()
port = int(os.environ.get('PORT', '0'))
def connects(family, kind, address, proto=0):
    """'' when it connects, else the error."""
    try: s = socket.socket(family, kind, proto)
    except OSError as e: return 'socket: ' + errno.errorcode.get(e.errno, str(e))
    s.settimeout(1)
    try:
        s.connect(address)
        if kind == socket.SOCK_DGRAM: s.send(b'hello')
        return ''
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
    finally: s.close()
def none_of(results):
    got = [str(k) for k, v in results.items() if v == '']
    if got: say('escaped', 'reached ' + ', '.join(got))
    else: say('contained', ', '.join(sorted(set(results.values()))))
v4 = [h for h in hosts if ':' not in h]
v6 = [h for h in hosts if ':' in h]
`;

/** A script in a sandbox while this process listens, on all its addresses and on an abstract socket. */
function reaching(name: string, tries: string, script: string): Attack {
  return {
    name,
    tries,
    async run(stage) {
      let met = 0;
      const abstract = `patchfleet-attack-${process.pid}-${Math.trunc(performance.now())}`;
      const tcp = createServer((socket) => {
        met += 1;
        socket.destroy();
      });
      const unix = createServer((socket) => {
        met += 1;
        socket.destroy();
      });
      const udp = createSocket('udp4', () => {
        met += 1;
      });
      try {
        await listen(tcp, { port: 0, host: '::' }).catch(() => listen(tcp, { port: 0, host: '0.0.0.0' }));
        const address = tcp.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        await listen(unix, { path: `\0${abstract}` });
        await new Promise<void>((resolve) => udp.bind(port, '0.0.0.0', resolve));
        // Of host and neighbour alike: containers of one engine might see each other by the same addresses.
        const hosts = Object.values(networkInterfaces()).flatMap((all) =>
          (all ?? []).map((one) => one.address),
        );
        const sandbox = await stage.target();
        const outcome = await runScript(
          sandbox,
          { python: `${tools}\n${script}` },
          { env: { HOSTS: hosts.join(' '), PORT: String(port), ABSTRACT: abstract, RUNTIME: stage.runtime } },
        );
        if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
        return met > 0 ? escaped(`${met} connections or packets reached the host`) : verdictOf(outcome.ran);
      } finally {
        tcp.close();
        unix.close();
        udp.close();
      }
    },
  };
}

function listen(server: Server, where: object): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => resolve());
  });
}

const outside = (name: string, tries: string, code: string, more: Script = { python: `${tools}\n${code}` }) =>
  probe(name, tries, more);

/** A sandbox has no network: every way out that needs none of our proxy. */
export const network: Family = {
  name: 'network',
  title: 'getting out by the network',
  attacks: [
    reaching(
      'TCP to the host',
      'to reach services of the host by any of its addresses',
      python`
none_of({(h, p): connects(socket.AF_INET, socket.SOCK_STREAM, (h, p)) for h in v4 + ['172.17.0.1', '10.0.2.2', '192.168.65.2'] for p in (port, 22, 2375)})`,
    ),
    reaching(
      'TCP to its loopback',
      'to reach services that listen for this machine alone',
      python`
none_of({(h, p): connects(socket.AF_INET, socket.SOCK_STREAM, (h, p)) for h in ('127.0.0.1', '127.0.0.2', '0.0.0.0', '127.255.255.254') for p in (port, 3128, 5432, 6379)})`,
    ),
    reaching(
      'UDP to the host',
      'to send packets to the host',
      python`
none_of({h: connects(socket.AF_INET, socket.SOCK_DGRAM, (h, port)) for h in v4 if not h.startswith('127.')})`,
    ),
    reaching(
      'IPv6',
      'to reach host and world by the other protocol',
      python`
none_of({h: connects(socket.AF_INET6, socket.SOCK_STREAM, (h, port)) for h in v6 + ['2606:4700:4700::1111', 'fe80::1%lo', 'ff02::1', '::ffff:1.1.1.1']})`,
    ),
    reaching(
      'odd transports',
      'to get out by SCTP, DCCP, UDP-Lite, MPTCP',
      python`
none_of({(h, p): connects(socket.AF_INET, k, (h, port), p) for h in v4 if not h.startswith('127.') for k, p in ((socket.SOCK_STREAM, 132), (6, 33), (socket.SOCK_DGRAM, 136), (socket.SOCK_STREAM, 262))})`,
    ),
    reaching(
      'abstract socket of the host',
      'to speak to a service by a name without a file',
      python`
none_of({'it': connects(socket.AF_UNIX, socket.SOCK_STREAM, b'\0' + os.environ['ABSTRACT'].encode())})`,
    ),
    outside(
      'TCP to the world',
      'to send what it has seen somewhere',
      python`
none_of({h: connects(socket.AF_INET, socket.SOCK_STREAM, (h, 443)) for h in ('1.1.1.1', '8.8.8.8', '140.82.121.4')})`,
    ),
    outside(
      'UDP to the world',
      'to send what it has seen in packets',
      python`
none_of({h: connects(socket.AF_INET, socket.SOCK_DGRAM, (h, 53)) for h in ('1.1.1.1', '255.255.255.255', '224.0.0.1')})`,
    ),
    outside(
      'names',
      'to hide what it sends in questions for names',
      python`
got = {}
for name in ('github.com', 'attack.example.com'):
    try: got[name] = '' if socket.getaddrinfo(name, 443) else 'nothing'
    except OSError as e: got[name] = type(e).__name__
for line in open('/etc/resolv.conf'):
    if line.startswith('nameserver'):
        server = line.split()[1]
        got[server] = connects(socket.AF_INET6 if ':' in server else socket.AF_INET, socket.SOCK_DGRAM, (server, 53))
none_of(got)`,
    ),
    outside(
      'metadata service',
      'to fetch the keys of the machine it runs on',
      python`
none_of({**{h: connects(socket.AF_INET, socket.SOCK_STREAM, (h, 80)) for h in ('169.254.169.254', '169.254.170.2', '168.63.129.16', '100.100.100.200')},
  'v6': connects(socket.AF_INET6, socket.SOCK_STREAM, ('fd00:ec2::254', 80))})`,
    ),
    outside(
      'ICMP',
      'to send what it has seen in pings',
      python`
none_of({(k, p): connects(socket.AF_INET, k, ('1.1.1.1', 1), p) for k, p in ((socket.SOCK_DGRAM, 1), (socket.SOCK_RAW, 1))})`,
    ),
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
made = []
for family in range(46):
    if family in (1, 2, 10, 16): continue
    for kind in (1, 2, 3, 5):
        try: socket.socket(family, kind).close(); made.append(family)
        except OSError: pass
say('escaped', sorted(set(made))) if made else say('contained', 'unix, IPv4, IPv6 and netlink alone')`,
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
say('escaped', 'a vsock socket was made') if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1 else say('contained', 'killed' if os.WIFSIGNALED(status) else 'refused')`,
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
import fcntl
done = []
def ask(kind, flags, body):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.settimeout(2)
    s.send(struct.pack('IHHII', 16 + len(body), kind, flags, 1, 0) + body)
    answer = s.recv(4096)
    return struct.unpack('i', answer[16:20])[0]
try:
    # A new dummy interface; an address for lo; a route.
    attr = struct.pack('HH', 8 + 12, 18) + struct.pack('HH', 9, 1) + b'dummy\0\0\0'
    if ask(16, 0x605, struct.pack('BxHiII', 0, 0, 0, 0, 0) + struct.pack('HH', 12, 3) + b'attack0\0' + attr) == 0: done.append('link')
    if ask(20, 0x605, struct.pack('BBBBI', 2, 24, 0, 0, 1) + struct.pack('HH', 8, 2) + socket.inet_aton('10.9.8.7')) == 0: done.append('address')
    if ask(24, 0x605, struct.pack('BBBBBBBBI', 2, 0, 0, 0, 254, 4, 0, 1, 0) + struct.pack('HHI', 8, 4, 1)) == 0: done.append('route')
except OSError as e: say('contained', 'netlink: ' + str(e)); sys.exit(0)
say('escaped', done) if done else say('contained', 'refused')`,
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
      name: 'abstract socket of a neighbour',
      tries: 'to speak to what another attempt runs',
      async run(stage) {
        const server = python`
s = socket.socket(socket.AF_UNIX); s.bind(b'\0attack-neighbour'); s.listen()
print('listening', flush=True); s.settimeout(20); s.accept(); print('reached')`;
        const { neighbour } = stage;
        const listening = runScript(neighbour, { python: server }, { wallMs: 4000 });
        const outcome = await runScript(await stage.target(), {
          python: `${tools}
results = []
for _ in range(10):
    results.append(connects(socket.AF_UNIX, socket.SOCK_STREAM, b'\\0attack-neighbour'))
    time.sleep(0.2)
none_of({i: r for i, r in enumerate(results)})`,
        });
        const heard = await listening;
        if ('died' in outcome || 'died' in heard) throw new Error('a sandbox ended');
        if (!heard.ran.stdout.includes('listening')) throw new Error('the neighbour did not listen');
        return heard.ran.stdout.includes('reached') ? escaped('it was reached') : verdictOf(outcome.ran);
      },
    },
    {
      name: 'shared memory of a neighbour',
      tries: 'to read what another attempt shares among its processes',
      async run(stage) {
        const key = 0x5ec0de;
        const owner = python`
i = call('shmget', ${key}, 4096, 0o1666)[0]
print('made' if i != -1 else 'not made', flush=True)
time.sleep(3); libc.shmctl(i, 0, None)`;
        const holding = runScript(stage.neighbour, { python: owner }, { wallMs: 10_000 });
        const outcome = await runScript(await stage.target(), {
          python: python`
got = []
for _ in range(10):
    got.append(call('shmget', ${key}, 0, 0)); time.sleep(0.2)
say('escaped', 'it was found') if any(i != -1 for i, _ in got) else say('contained', got[-1][1])`,
        });
        const held = await holding;
        if ('died' in outcome || 'died' in held) throw new Error('a sandbox ended');
        if (!held.ran.stdout.startsWith('made')) throw new Error('the neighbour shares nothing');
        return verdictOf(outcome.ran);
      },
    },
  ],
};
