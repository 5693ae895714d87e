import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { maxEgressConnections } from '../../../../sandbox/egress-place.ts';
import { until } from '../../../support/app/until.ts';
import { type Attack, contained, escaped } from '../../attack.ts';
import { processesOf } from '../../host.ts';
import { runScript } from '../../probes.ts';
import { askAfter, forging } from '../tool-server/lying.ts';
import { trick } from './trick.ts';
import { enter, listen, portOf, type World } from './world.ts';

const python = String.raw;
/** A worker whose sandbox asks a registry again and again. */
const program = fileURLToPath(new URL('../../../integration/sandbox/egress-worker.ts', import.meta.url));

/** Opens a channel as the tool server does, and sends on it; after {@link forging}. */
const channelling = python`
def channel(number, data):
    for body in (struct.pack('>BI', 1, number), struct.pack('>BI', 2, number) + data): raw(struct.pack('>I', 0x80000000 | len(body)) + body)`;

const refusedIn = ({ records }: World) => records.filter(({ action }) => action === 'egress.refused').length;

/** A proxy that is worn out, or gone. */
export const strain: readonly Attack[] = [
  trick(
    'endless heads',
    'to fill the worker by the head of a request',
    python`
answers = {'long': ask(b'GET http://registry.test/' + b'a' * (1 << 20) + b' HTTP/1.1\r\n\r\n'), 'many': ask(b'GET http://registry.test/ HTTP/1.1\r\n' + b'X: y\r\n' * 100000)}
refused(answers) if alive() else say('escaped', 'it answers nobody any more')`,
  ),
  trick(
    'many connections',
    'to use up the connections of the worker',
    python`
kept, direct = [], os.path.exists('/run/patchfleet/egress.sock')
for _ in range(1500):
    # By the socket itself where there is one: the tool server is no part of the wall.
    try:
        s = socket.socket(socket.AF_UNIX if direct else socket.AF_INET); s.settimeout(2)
        s.connect('/run/patchfleet/egress.sock' if direct else ('127.0.0.1', 3128)); kept.append(s)
    except OSError: break
def is_open(s):
    s.setblocking(False)
    try: return s.recv(1) != b''
    except BlockingIOError: return True
    except OSError: return False
# Those that are too many are let go as soon as the worker comes to them: until then they look open.
for _ in range(50):
    time.sleep(0.2)
    taken = sum(is_open(s) for s in kept)
    if taken <= ${maxEgressConnections}: break
for s in kept: s.close()
for _ in range(20):
    if alive(): break
    time.sleep(0.2)
else: say('escaped', 'it answers nobody any more')
if taken > ${maxEgressConnections}: say('escaped', '%d were taken at once' % taken)
else: say('contained', 'of %d that were made %d were taken' % (len(kept), taken)) if taken else say('untried', 'none was taken')`,
  ),
  trick(
    'place of the socket',
    'to put something else in the place of the socket that leads to the proxy',
    python`
place = '/run/patchfleet/egress.sock'
results = {}
def attempt(name, act):
    try: act(); results[name] = ''
    except OSError as e: results[name] = errno.errorcode[e.errno]
if not os.path.exists(place): say('contained', 'there is none: the way out is the stream of the worker')
else:
    attempt('remove', lambda: os.unlink(place))
    attempt('rename', lambda: os.rename(place, place + '.old'))
    attempt('mode', lambda: os.chmod(place, 0o777))
    attempt('link', lambda: os.link(place, '/run/patchfleet/other'))
    attempt('another', lambda: socket.socket(socket.AF_UNIX).bind('/run/patchfleet/other'))
    attempt('directory', lambda: os.rename('/run/patchfleet', '/run/other'))
    all_refused({k: 'EROFS' if v == 'EBUSY' else v for k, v in results.items()})`,
  ),
  {
    name: 'channels of its own',
    tries: 'to get past the proxy by connections that the tool server never made',
    async run(stage) {
      // One of its own: what has been refused a hundred times has no more rows written of it.
      await (await enter(stage)).sandbox.close();
      const { world, sandbox } = await enter(stage);
      const own = '/by-its-own-channel';
      const env = { PORT: String(world.port), INNER: String(world.inner), RUNTIME: stage.runtime };
      const before = { hits: world.innerHits(), refused: refusedIn(world) };
      // The tool server is held: it would end for want of channels that it knows nothing of, and its sandbox with it.
      const script = python`
port, inner = os.environ['PORT'], os.environ['INNER']
head = ' HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n'
hold()
channel(1000001, ('GET http://127.0.0.1:%s/' % inner + head % ('127.0.0.1:' + inner)).encode())
channel(1000002, ('CONNECT 127.0.0.1:%s' % inner + head % ('127.0.0.1:' + inner)).encode())
channel(1000003, ('GET http://registry.test:%s${own}' % port + head % ('registry.test:' + port)).encode())
signal.pause()`;
      const running = runScript(
        sandbox,
        { python: `${forging}\n${channelling}\n${script}` },
        { env, wallMs: 60_000 },
      );
      const judged = () => refusedIn(world) >= before.refused + 2 || world.innerHits() > before.hits;
      await until(
        'they are taken and judged',
        () => world.asked.some((line) => line.endsWith(own)) && judged(),
      );
      await Promise.all([sandbox.close(), running]);
      if (world.innerHits() > before.hits) return escaped('the service of the host was reached');

      const { sandbox: another } = await enter(stage);
      const flood = python`
for number in range(1000001, 1000600): channel(number, b'G')
print('told', flush=True)`;
      const outcome = await runScript(another, { python: `${forging}\n${channelling}\n${flood}` }, { env });
      if ('ran' in outcome && !outcome.ran.stdout.includes('told'))
        throw new Error(outcome.ran.stderr.slice(-300));
      const then = 'died' in outcome ? `the attempt ends as ${outcome.died}` : await askAfter(another);
      return contained(`they lead to the same proxy; after hundreds of them ${then}`);
    },
  },
  {
    name: 'proxy gone',
    tries: 'to get out when there is nobody who would judge',
    async run(stage) {
      let requests = 0;
      const registry = createServer((request, response) => {
        if (request.url !== '/ours') requests += 1;
        response.end('reached');
      });
      await listen(registry);
      const instance = `attacks-${randomUUID()}`;
      const workspaces = join(stage.setting.home, 'killed', 'workspaces');
      const args = [instance, workspaces, stage.snapshot, String(portOf(registry)), stage.runtime];
      const worker = spawn(process.execPath, [program, ...args], {
        env: { ...process.env, ...stage.environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const [container = ''] = (await once(createInterface({ input: worker.stdout }), 'line')) as [string];
        await until('the registry is asked', () => requests > 2);
        const killed = once(worker, 'exit');
        worker.kill('SIGKILL');
        await killed;
        // What it had sent before it died may still wait to be taken: it is, before what we send behind it.
        const ours = await fetch(`http://127.0.0.1:${portOf(registry)}/ours`);
        await ours.text();
        registry.closeAllConnections();
        const last = requests;
        await until('its processes have ended', () => processesOf(container) === 0);
        if (requests > last) return escaped(`${requests - last} requests went through`);
        return contained(`after ${last} that went through, none did, and its sandbox ended with its worker`);
      } finally {
        worker.kill('SIGKILL');
        registry.close();
        await stage.removeAll(instance, workspaces);
      }
    },
  },
];
