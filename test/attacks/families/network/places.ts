import type { Attack } from '../../attack.ts';
import { outside, reaching } from './reaching.ts';

const python = String.raw;

/** Places it might reach. */
export const places: readonly Attack[] = [
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
none_of({h: connects(socket.AF_INET, socket.SOCK_DGRAM, (h, udp)) for h in v4 if not h.startswith('127.')})`,
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
];
