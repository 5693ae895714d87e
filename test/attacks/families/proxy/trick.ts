import { type Attack, escaped, type Finding } from '../../attack.ts';
import { runScript, verdictOf } from '../../probes.ts';
import { enter, type World } from './world.ts';

const python = String.raw;

/** What scripts of this family begin with: bytes to the proxy, and what it answers. */
export const tools = python`
port, inner = os.environ['PORT'], os.environ['INNER']
def ask(data, wait=20, more=None):
    """All that the proxy answers."""
    s = socket.create_connection(('127.0.0.1', 3128), 20); s.settimeout(wait)
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
    return ask(('CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n' % (to, host or to)).encode('utf8'), 20, then)
def alive():
    return b'reached the registry' in get('http://registry.test:%s/alive' % port)
if not alive(): say('untried', 'not even what is allowed can be reached'); sys.exit(0)
def refused(answers):
    """Says contained if each of the answers is a refusal by the proxy, in its own words, or none at all."""
    got = {k: v.split(b'\r\n')[0].decode('latin1') for k, v in answers.items()}
    through = [str(k) for k, v in answers.items() if b'INNER SECRET' in v or b'reached the registry' in v or v[9:10] == b'2']
    if through: say('escaped', 'through: ' + ', '.join(through))
    elif not any(g[9:10] == '4' or g[9:10] == '5' for g in got.values()): say('untried', 'the proxy refused nothing')
    else: say('contained', ', '.join(sorted(set(g or 'closed' for g in got.values()))))
`;

/** A script that speaks to the proxy; `judge` looks at what servers and records saw. */
export function trick(
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
      const outcome = await runScript(sandbox, { python: `${tools}\n${script}` }, { wallMs: 120_000, env });
      if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
      if (world.innerHits() > before) return escaped('the service of the host was reached');
      const against = judge(world);
      return against === null ? verdictOf(outcome.ran) : escaped(against);
    },
  };
}
