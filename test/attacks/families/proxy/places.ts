import type { Attack } from '../../attack.ts';
import { trick } from './trick.ts';

const python = String.raw;

/** Other places than those that are allowed. */
export const places: readonly Attack[] = [
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
s = socket.create_connection(('127.0.0.1', 3128), 20); s.settimeout(20)
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
];
