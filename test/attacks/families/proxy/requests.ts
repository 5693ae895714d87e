import type { Attack } from '../../attack.ts';
import { trick } from './trick.ts';

const python = String.raw;

/** Requests and tunnels that carry something else than they say. */
export const requests: readonly Attack[] = [
  trick(
    'other Host',
    'to have the allowed server answer for another name',
    python`
refused({h: get('http://registry.test:%s/host' % port, host=h) for h in ('127.0.0.1:' + inner, 'evil.test', 'registry.test:' + inner, '')})`,
    ({ asked, port }) =>
      asked.find((line) => line.endsWith('/host') && line !== `registry.test:${port} /host`) ?? null,
  ),
  trick(
    'two Hosts',
    'to have proxy and server read different ones',
    python`
refused({i: get('http://registry.test:%s/host2' % port, extra=e) for i, e in enumerate((b'Host: evil.test\r\n', b' Host: evil.test\r\n', b'Host : evil.test\r\n', b'X-Forwarded-Host: evil.test\r\nHost:evil.test\r\n'))})`,
    ({ asked, port }) =>
      asked.find((line) => line.endsWith('/host2') && line !== `registry.test:${port} /host2`) ?? null,
  ),
  trick(
    'second request',
    'to send a request to another host behind an allowed one',
    python`
head = 'GET http://registry.test:%s/one HTTP/1.1\r\nHost: registry.test\r\n' % port
second = 'GET http://127.0.0.1:%s/ HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n' % (inner, inner)
a = ask((head + 'Connection: keep-alive\r\n\r\n' + second).encode())
b = ask((head + '\r\n').encode(), 20, second.encode())
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
if not all(a[9:12] == b'200' for a in answers): say('untried', 'there is no tunnel')
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
s = socket.create_connection(('127.0.0.1', 3128), 20); s.settimeout(20)
s.sendall(('CONNECT registry.test:%s HTTP/1.1\r\nHost: registry.test\r\n\r\n' % port).encode())
try:
    first = s.recv(4096); s.sendall(hello('evil.test')); got = s.recv(4096)
except OSError: got = b''
if first[9:12] != b'200': say('untried', 'there is no tunnel')
# The registry speaks no TLS: had the hello reached it, it would say so.
say('escaped', got[:100]) if b'400' in got else say('contained', 'the tunnel is closed')`,
  ),
];
