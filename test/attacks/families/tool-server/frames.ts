import { connectEngine } from '../../../../src/sandbox/container/docker-host.ts';
import { type Attack, contained, escaped } from '../../attack.ts';
import { runScript } from '../../probes.ts';
import { lie } from './lying.ts';

const python = String.raw;

/** Frames that are none, or say what is not so. */
export const frames: readonly Attack[] = [
  lie(
    'giant frame',
    'to have the worker take memory for a frame that is announced',
    python`
hold(); raw(struct.pack('>I', 0x7fffffff))
for _ in range(1024): raw(b'x' * (1 << 20))
os.kill(pid, signal.SIGCONT); time.sleep(30)`,
  ),
  lie(
    'largest frames',
    'to fill the memory of the worker with frames as large as they may be',
    python`
hold()
body = b'{"id": 999999, "result": "' + b'x' * (16 * 1024 * 1024 - 64) + b'"}'
for _ in range(8): raw(struct.pack('>I', len(body)) + body)
os.kill(pid, signal.SIGCONT)`,
  ),
  lie(
    'frame that never ends',
    'to have the worker wait for the rest',
    python`
hold(); raw(struct.pack('>I', 1000) + b'{'); os.kill(pid, signal.SIGCONT); time.sleep(1)`,
    8000,
  ),
  lie(
    'nonsense',
    'to have the worker fall over what is no frame',
    python`hold(); raw(os.urandom(1 << 20)); time.sleep(30)`,
  ),
  lie(
    'text that is none',
    'to have the worker fall over bytes that are no UTF-8, or no JSON',
    python`
hold()
for body in (b'\xff\xfe{}', b'{', b'nul', b'\x00' * 10): raw(struct.pack('>I', len(body)) + body)
time.sleep(30)`,
  ),
  lie(
    'depth',
    'to have the worker run out of stack',
    python`
hold()
body = b'[' * 4000000 + b']' * 4000000
raw(struct.pack('>I', len(body)) + body); time.sleep(30)`,
  ),
  lie(
    'wrong shapes',
    'to have the worker take an answer for what it is not',
    python`
hold()
for i in range(1, 12):
    send({'id': i, 'result': {'exitCode': 'zero', 'stdout': 5, 'stderr': None}})
time.sleep(30)`,
  ),
  lie(
    'prototypes',
    'to change what objects of the worker are',
    python`
raw(b''); body = b'{"id": 999999, "result": {"__proto__": {"owned": true}, "constructor": {"prototype": {"owned": true}}}, "__proto__": {"owned": true}}'
raw(struct.pack('>I', len(body)) + body)`,
  ),
  lie(
    'answers to others',
    'to answer what was not asked',
    python`
for i in list(range(100, 2000)) + [-1, 0, 2**31, 2**53]: send({'id': i, 'result': {}}); send({'id': i, 'error': 'no'})`,
  ),
  lie(
    'second hello',
    'to begin the conversation anew',
    python`send({'hello': {'protocol': 99, 'egress': 'stream'}})`,
  ),
  lie(
    'connections that were not given',
    'to have the worker open a way out over its own stream',
    python`
def channel(kind, number, data=b''):
    body = struct.pack('>BI', kind, number) + data
    raw(struct.pack('>I', 0x80000000 | len(body)) + body)
channel(1, 1); channel(2, 1, b'CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n'); time.sleep(30)`,
  ),
  lie(
    'channels that are none',
    'to have the worker fall over bytes of connections that it never had',
    python`
def channel(kind, number, data=b''):
    body = struct.pack('>BI', kind, number) + data
    raw(struct.pack('>I', 0x80000000 | len(body)) + body)
for number in (0, 1, 0xffffffff):
    channel(2, number, b'x' * 32768); channel(3, number); channel(4, number); channel(5, number, struct.pack('>I', 0xffffffff))`,
  ),
  {
    name: 'its errors',
    tries: 'to fill the worker by the stream of complaints, and the disk by what the engine keeps of it',
    async run(stage) {
      const sandbox = await stage.fresh();
      try {
        const flood = python`
err = os.open('/proc/%d/fd/2' % tool_server(), os.O_WRONLY)
for _ in range(1024): os.write(err, b'x' * 65536)
print('told', flush=True)`;
        const outcome = await runScript(sandbox, { python: flood });
        if ('ran' in outcome && !outcome.ran.stdout.includes('told'))
          throw new Error(outcome.ran.stderr.slice(-300));
        const container = connectEngine(stage.environment['DOCKER_HOST']).requests.getContainer(
          sandbox.containerId,
        );
        const kept = await container.logs({ stdout: true, stderr: true, tail: 1 }).then(
          (log) => log.length,
          () => 0,
        );
        if (kept > 0) return escaped('the engine keeps it');
        const how = 'died' in outcome ? `the attempt ends as ${outcome.died}` : 'it goes on';
        return contained(`nothing of it is kept; ${how}`);
      } finally {
        await sandbox.close();
      }
    },
  },
];
