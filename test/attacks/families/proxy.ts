import { readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { EgressRecord } from '../../../src/sandbox/egress/egress.ts';
import { type Attack, contained, escaped, type Family, type Finding } from '../attack.ts';
import { runScript, verdictOf } from '../probes.ts';
import type { Stage } from '../stage.ts';

const python = String.raw;

/** What scripts of this family begin with: bytes to the proxy, and what it answers. */
const tools = python`
port, inner = os.environ['PORT'], os.environ['INNER']
def ask(data, wait=4, more=None):
    """All that the proxy answers."""
    s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(wait)
    got = b''
    try:
        s.sendall(data)
        if more is not None:
            got += s.recv(65536); s.sendall(more)
        while True:
            part = s.recv(65536)
            if not part: break
            got += part
    except OSError: pass
    s.close()
    return got
def get(url, host=None, extra=b''):
    host = url.split('/')[2] if host is None else host
    return ask(('GET %s HTTP/1.1\r\nHost: %s\r\n' % (url, host)).encode('utf8') + extra + b'Connection: close\r\n\r\n')
def connect(to, host=None, then=None):
    return ask(('CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n' % (to, host or to)).encode('utf8'), 4, then)
def refused(answers):
    """Says contained if none of the answers is one of a server."""
    got = {k: v.split(b'\r\n')[0].decode('latin1') for k, v in answers.items()}
    through = [str(k) for k, v in answers.items() if b'INNER SECRET' in v or b'reached the registry' in v or v[9:10] == b'2']
    if through: say('escaped', 'through: ' + ', '.join(through))
    else: say('contained', ', '.join(sorted(set(g or 'closed' for g in got.values()))))
`;

/** Services of the host: one that a rule names, and one that must never be reached. */
interface World {
  readonly port: number;
  readonly inner: number;
  readonly innerHits: () => number;
  /** What the registry was asked: its `Host` and path. */
  readonly asked: string[];
  readonly records: EgressRecord[];
  readonly resolved: string[];
  end(): void;
}

const worlds = new WeakMap<Stage, Promise<World>>();

async function openWorld(): Promise<World> {
  const asked: string[] = [];
  let hits = 0;
  const inner = createServer((_, response) => {
    hits += 1;
    response.end('INNER SECRET');
  });
  await listen(inner);
  const innerPort = portOf(inner);
  const registry = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    if (request.url?.startsWith('/redirect') === true) {
      response.writeHead(302, { location: `http://127.0.0.1:${innerPort}/` }).end();
    } else response.end('reached the registry');
  });
  await listen(registry);
  return {
    port: portOf(registry),
    inner: innerPort,
    innerHits: () => hits,
    asked,
    records: [],
    resolved: [],
    end() {
      inner.closeAllConnections();
      registry.closeAllConnections();
      inner.close();
      registry.close();
    },
  };
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Names of the world, as the resolver of the worker tells them. */
function resolver(world: World) {
  return async (host: string): Promise<readonly string[]> => {
    world.resolved.push(host);
    const before = world.resolved.filter((one) => one === host).length;
    switch (host) {
      case 'registry.test':
        return ['127.0.0.1'];
      case 'rebind.test':
        // First where it may go, then where the attacker wants it.
        return before % 2 === 1 ? ['127.0.0.1'] : ['169.254.169.254'];
      case 'inward.test':
        return ['127.0.0.1'];
      case 'both.test':
        return ['203.0.114.1', '10.0.0.1'];
      case 'metadata.test':
        return ['169.254.169.254'];
      case 'mapped.test':
        return ['::ffff:127.0.0.1'];
      default:
        throw new Error('no such name');
    }
  };
}

/** The world of a stage, and a sandbox in it that may reach the registry. */
async function enter(stage: Stage) {
  const known = worlds.get(stage);
  const world = await (known ?? openWorld());
  if (known === undefined) {
    worlds.set(stage, Promise.resolve(world));
    stage.onEnd(world.end);
  }
  const names = ['rebind.test', 'inward.test', 'both.test', 'metadata.test', 'mapped.test'];
  const privately = new Set(['metadata.test', 'rebind.test']);
  const rules = [
    { host: 'registry.test', port: world.port, private: true },
    ...names.map((host) => ({ host, port: world.port, private: privately.has(host) })),
  ];
  const audit = async (record: EgressRecord) => {
    world.records.push(record);
  };
  return { world, sandbox: await stage.withNetwork(rules, { audit, resolve: resolver(world) }) };
}

/** A script that speaks to the proxy; `judge` looks at what servers and records saw. */
function trick(
  name: string,
  tries: string,
  script: string,
  judge: (world: World) => string | null = () => null,
): Attack {
  return {
    name,
    tries,
    async run(stage): Promise<Finding> {
      const { world, sandbox } = await enter(stage);
      const before = world.innerHits();
      const env = { PORT: String(world.port), INNER: String(world.inner), RUNTIME: stage.runtime };
      const outcome = await runScript(sandbox, { python: `${tools}\n${script}` }, { wallMs: 40_000, env });
      if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
      if (world.innerHits() > before) return escaped('the service of the host was reached');
      const against = judge(world);
      return against === null ? verdictOf(outcome.ran) : escaped(against);
    },
  };
}

/** With something allowed: nothing but that is reached, whatever the request looks like. */
export const proxy: Family = {
  name: 'proxy',
  title: 'getting out by the proxy of what is allowed',
  attacks: [
    trick(
      'what is allowed',
      'to do what it may: without this the others would show nothing',
      python`
a = get('http://registry.test:%s/package' % port)
b = connect('registry.test:' + port, then=b'GET /tunnel HTTP/1.1\r\nHost: registry.test:%s\r\nConnection: close\r\n\r\n' % port.encode())
ok = b'reached the registry' in a
say('contained', 'it is reached, and recorded; a tunnel without TLS: ' + b.split(b'\r\n')[0].decode('latin1')) if ok else say('untried', a[:200])`,
      ({ records }) =>
        records.some(({ action }) => action === 'egress.allowed') ? null : 'it was not recorded',
    ),
    trick(
      'other port',
      'to reach another port of an allowed host',
      python`
refused({p: connect('registry.test:' + p) for p in (inner, '22', '443', '80', '0', '65536', '-1', '+' + port, port + ' ', '0' + port)} | {'get': get('http://registry.test:%s/' % inner)})`,
    ),
    trick(
      'other host',
      'to reach a host that nobody allowed',
      python`
refused({h: connect(h + ':' + port) for h in ('evil.test', 'registry.test.evil.test', 'xregistry.test', 'test', 'localhost', '*.test', 'registry.tes', '')})`,
    ),
    trick(
      'addresses',
      'to reach an address in any notation',
      python`
shapes = ('127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', '[::]', '169.254.169.254', '127.0.0.1.', '[fe80::1%25lo]', '①②⑦.0.0.1', '127。0。0。1')
refused({h + p: connect(h + ':' + p) for h in shapes for p in (port, inner)} | {'get ' + h: get('http://%s:%s/' % (h, inner)) for h in shapes})`,
    ),
    trick(
      'other Host',
      'to have the allowed server answer for another name',
      python`
answers = [get('http://registry.test:%s/host' % port, host=h) for h in ('127.0.0.1:' + inner, 'evil.test', 'registry.test:' + inner, '')]
say('contained', 'the name that was judged is the one that is sent')`,
      ({ asked, port }) =>
        asked.find((line) => line.endsWith('/host') && line !== `registry.test:${port} /host`) ?? null,
    ),
    trick(
      'two Hosts',
      'to have proxy and server read different ones',
      python`
answers = {i: get('http://registry.test:%s/host2' % port, extra=e) for i, e in enumerate((b'Host: evil.test\r\n', b' Host: evil.test\r\n', b'Host : evil.test\r\n', b'X-Forwarded-Host: evil.test\r\nHost:evil.test\r\n'))}
say('contained', ', '.join(sorted({a.split(b'\r\n')[0].decode('latin1') or 'closed' for a in answers.values()})))`,
      ({ asked, port }) =>
        asked.find((line) => line.endsWith('/host2') && line !== `registry.test:${port} /host2`) ?? null,
    ),
    trick(
      'redirect',
      'to be led on to a service of the host by an allowed server',
      python`
first = get('http://registry.test:%s/redirect' % port)
to = [l for l in first.split(b'\r\n') if l.lower().startswith(b'location:')]
if not to: say('untried', first[:200])
else:
    where = to[0].split(b' ', 1)[1].decode()
    refused({where: get(where), 'tunnel': connect(where.split('/')[2])})`,
    ),
    trick(
      'name that leads inward',
      'to have an allowed name lead to the host',
      python`
refused({n: connect(n + '.test:' + port) for n in ('inward', 'both', 'metadata', 'mapped')} | {n + ' get': get('http://%s.test:%s/' % (n, port)) for n in ('inward', 'both', 'metadata', 'mapped')})`,
    ),
    trick(
      'rebinding',
      'to have a name lead elsewhere once it was judged',
      python`
s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(3)
s.sendall(('CONNECT rebind.test:%s HTTP/1.1\r\nHost: rebind.test\r\n\r\n' % port).encode())
try: first = s.recv(4096)
except OSError: first = b''
s.close()
second = connect('rebind.test:' + port)
refused({'second': second}) if first[9:12] == b'200' else say('untried', first)`,
      ({ resolved }) => {
        const count = resolved.filter((host) => host === 'rebind.test').length;
        return count === 2 ? null : `it was resolved ${count} times for two requests`;
      },
    ),
    trick(
      'user names',
      'to hide the host behind a user name',
      python`
refused({u: get(u, host='registry.test') for u in ('http://registry.test@127.0.0.1:%s/' % inner, 'http://registry.test:%s@127.0.0.1:%s/' % (port, inner), 'http://127.0.0.1:%s@registry.test:%s/' % (inner, port),
  'http://registry.test:%s\\@127.0.0.1:%s/' % (port, inner), 'http://registry.test:%s#@127.0.0.1:%s/' % (port, inner), 'http://127.0.0.1:%s#@registry.test/' % inner)
  if '#' not in u or 'registry.test:' not in u} | {'connect': connect('registry.test@127.0.0.1:' + inner)})`,
    ),
    trick(
      'second request',
      'to send a request to another host behind an allowed one',
      python`
head = 'GET http://registry.test:%s/one HTTP/1.1\r\nHost: registry.test\r\n' % port
second = 'GET http://127.0.0.1:%s/ HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n' % (inner, inner)
a = ask((head + 'Connection: keep-alive\r\n\r\n' + second).encode())
b = ask((head + '\r\n').encode(), 3, second.encode())
bad = [x for x in (a, b) if b'INNER SECRET' in x]
say('escaped', 'the second went through') if bad else say('contained', 'one request for each connection')`,
      ({ asked }) => asked.find((line) => line.includes('/smuggled')) ?? null,
    ),
    trick(
      'smuggling',
      'to have a body taken for a request',
      python`
u = 'http://registry.test:%s/post' % port
tail = b'GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n'
def post(lines, body): return ask(('POST %s HTTP/1.1\r\nHost: registry.test\r\n' % u).encode() + lines + b'\r\n' + body)
answers = [post(b'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', b'0\r\n\r\n' + tail), post(b'Content-Length: 0\r\nContent-Length: %d\r\n' % len(tail), tail), post(b'Content-Length: +4\r\n', b'abcd' + tail),
  post(b'Transfer-Encoding : chunked\r\n', b'0\r\n\r\n' + tail), post(b'Transfer-Encoding: xchunked\r\n', b'0\r\n\r\n' + tail), post(b'Content-Length: 4, 4\r\n', b'abcd' + tail), post(b'X: a\r\n folded\r\nContent-Length: 0\r\n', tail), post(b'X: a\nContent-Length: 0\r\n', tail),
  ask(('GET http://registry.test:%s/a HTTP/1.1\r\nX: y\r\n\r\n' % port).replace('/a', '/a\rHost: evil.test\r').encode()), get('http://registry.test:%s/a%%0d%%0aHost:%%20evil.test/smug' % port)]
say('contained', ', '.join(sorted({a.split(b'\r\n')[0].decode('latin1') or 'closed' for a in answers})))`,
      ({ asked }) => asked.find((line) => line.includes('/smuggled') || /^\S*evil/.test(line)) ?? null,
    ),
    trick(
      'inside a tunnel',
      'to speak to the proxy, or without TLS, inside a tunnel',
      python`
inside = ('GET http://127.0.0.1:%s/ HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' % (inner, inner)).encode()
again = ('CONNECT 127.0.0.1:%s HTTP/1.1\r\n\r\n' % inner).encode()
answers = [connect('registry.test:' + port, then=x) for x in (inside, again)]
bad = [a for a in answers if b'INNER SECRET' in a or b'reached the registry' in a]
say('escaped', bad[0][:100]) if bad else say('contained', 'nothing but TLS goes through')`,
    ),
    trick(
      'name of the certificate',
      'to ask an allowed server for another name by TLS',
      python`
import ssl
def hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    c = ssl.create_default_context(); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
    o = c.wrap_bio(incoming, outgoing, server_hostname=name)
    try: o.do_handshake()
    except ssl.SSLWantReadError: pass
    return outgoing.read()
s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(4)
s.sendall(('CONNECT registry.test:%s HTTP/1.1\r\nHost: registry.test\r\n\r\n' % port).encode())
try:
    first = s.recv(4096); s.sendall(hello('evil.test')); got = s.recv(4096)
except OSError: got = b''
# The registry speaks no TLS: had the hello reached it, it would say so.
say('escaped', got[:100]) if b'400' in got else say('contained', 'the tunnel is closed')`,
    ),
    trick(
      'other schemes',
      'to have other things fetched than web pages',
      python`
refused({u: ask(('GET %s HTTP/1.1\r\nHost: registry.test\r\n\r\n' % u).encode()) for u in ('file:///etc/passwd', 'ftp://registry.test/', 'gopher://127.0.0.1:%s/' % inner, 'https://registry.test:%s/' % port, 'unix:///var/run/docker.sock', '/etc/passwd', '*', '//127.0.0.1:%s/' % inner, 'registry.test', 'http:///', 'http://')})`,
    ),
    trick(
      'bytes in names',
      'to have a name read in two ways',
      python`
refused({repr(h): ask(b'CONNECT ' + h + b':' + port.encode() + b' HTTP/1.1\r\n\r\n') for h in (b'registry.test\0.evil.test', b'evil.test\0registry.test', b'registry.test%00', b'registry.test\t', b'registry\xe3\x80\x82test', b'registry.test/../evil', b'xn--', b'registry.test..', b'a' * 300)})`,
    ),
    trick(
      'endless heads',
      'to fill the worker by the head of a request',
      python`
answers = {'long': ask(b'GET http://registry.test/' + b'a' * (1 << 20) + b' HTTP/1.1\r\n\r\n'), 'many': ask(b'GET http://registry.test/ HTTP/1.1\r\n' + b'X: y\r\n' * 100000)}
refused(answers)`,
    ),
    trick(
      'many connections',
      'to use up the connections of the worker',
      python`
kept = []
for _ in range(1500):
    try:
        s = socket.socket(); s.settimeout(2); s.connect(('127.0.0.1', 3128)); kept.append(s)
    except OSError: break
time.sleep(1)
say('contained', '%d were opened, and lead nowhere' % len(kept))`,
    ),
    {
      name: 'proxy gone',
      tries: 'to get out when there is nobody who would judge',
      async run(stage) {
        const { world, sandbox } = await enter(stage);
        const env = { PORT: String(world.port), INNER: String(world.inner), RUNTIME: stage.runtime };
        if (stage.runtime === 'runsc')
          throw new Error(
            'gVisor refuses the socket: the way out is the stream of the worker, which ends with the sandbox',
          );
        const sockets = await readdir(stage.egressDir).catch(() => []);
        if (sockets.length === 0)
          throw new Error('without a socket the proxy is the worker’s own stream, and ends with the sandbox');
        await rm(stage.egressDir, { recursive: true });
        const before = world.asked.length;
        const script = python`
a = get('http://registry.test:%s/gone' % port)
say('contained', a.split(b'\r\n')[0].decode('latin1') or 'closed')`;
        const outcome = await runScript(sandbox, { python: `${tools}\n${script}` }, { env });
        await sandbox.close();
        if ('died' in outcome) return contained(outcome.died);
        return world.asked.length > before ? escaped('a request went through') : verdictOf(outcome.ran);
      },
    },
  ],
};
