import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Attack, escaped } from '../../attack.ts';
import { probe, runScript, type Script, verdictOf } from '../../probes.ts';

const python = String.raw;

/** What scripts of this family begin with. */
export const tools = python`
hosts = os.environ.get('HOSTS', '').split()
port = int(os.environ.get('PORT', '0'))
udp = int(os.environ.get('UDP', '0'))
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
export function reaching(name: string, tries: string, script: string): Attack {
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
        await new Promise<void>((resolve) => udp.bind(0, '0.0.0.0', resolve));
        // Of host and neighbour alike: containers of one engine might see each other by the same addresses.
        const hosts = Object.values(networkInterfaces()).flatMap((all) =>
          (all ?? []).map((one) => one.address),
        );
        const sandbox = await stage.target();
        const outcome = await runScript(
          sandbox,
          { python: `${tools}\n${script}` },
          {
            env: {
              ...{ HOSTS: hosts.join(' '), PORT: String(port), UDP: String(udp.address().port) },
              ...{ ABSTRACT: abstract, RUNTIME: stage.runtime },
            },
          },
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

export const outside = (
  name: string,
  tries: string,
  code: string,
  more: Script = { python: `${tools}\n${code}` },
) => probe(name, tries, more);
