import { PatchfleetError } from '../../../src/domain/failure.ts';
import type { RunResult, Sandbox } from '../../../src/sandbox/port.ts';
import { type Attack, contained, escaped, type Family, type Finding } from '../attack.ts';
import { runScript } from '../probes.ts';
import type { Stage } from '../stage.ts';

const python = String.raw;

/** How long the worker may take to see what is wrong, ms. */
const noticeMs = 30_000;

/**
 * Forges what the tool server says: holds it still and writes to its output in its place. `send(obj)` sends a frame,
 * `raw(bytes)` bytes as they are.
 */
const forging = python`
import json
pid = tool_server()
try: out = os.open('/proc/%d/fd/1' % pid, os.O_WRONLY)
except OSError as e: say('contained', 'its output cannot be opened: ' + errno.errorcode[e.errno]); sys.exit(0)
def raw(data):
    while data: data = data[os.write(out, data):]
def send(obj):
    body = json.dumps(obj).encode(); raw(struct.pack('>I', len(body)) + body)
def hold(): os.kill(pid, signal.SIGSTOP)
`;

/** How the sandbox takes it, in the words of the worker. */
async function askAfter(sandbox: Sandbox): Promise<string> {
  const signal = AbortSignal.timeout(noticeMs);
  try {
    const { stdout } = await sandbox.run(['echo', 'mine'], { signal, wallMs: 5000 });
    return stdout === 'mine\n' ? 'it goes on as before' : `it says ${JSON.stringify(stdout.slice(0, 100))}`;
  } catch (thrown) {
    if (thrown instanceof PatchfleetError) return `the attempt ends as ${thrown.code}`;
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message.slice(0, 100)}` : String(thrown);
  }
}

/** Whether what the worker was answered is what its types say. */
const isResult = ({ exitCode, stdout, stderr }: RunResult) =>
  [typeof stdout, typeof stderr].every((type) => type === 'string') &&
  (exitCode === null || Number.isInteger(exitCode));

/** Lies to the worker: it may believe them of this sandbox alone, or end the attempt. It must not break. */
function lie(name: string, tries: string, script: string, wallMs = 60_000): Attack {
  return {
    name,
    tries,
    async run(stage): Promise<Finding> {
      const sandbox = await stage.fresh(wallMs);
      try {
        const before = process.memoryUsage().rss;
        const outcome = await runScript(
          sandbox,
          { python: `${forging}\n${script}` },
          { env: { RUNTIME: stage.runtime } },
        );
        if ('ran' in outcome && !isResult(outcome.ran))
          return escaped(`the worker took ${JSON.stringify(outcome.ran).slice(0, 100)} for a result`);
        const took = 'died' in outcome ? `the attempt ends as ${outcome.died}` : await askAfter(sandbox);
        const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
        if (grown > 700) return escaped(`the worker grew by ${Math.round(grown)} MiB`);
        // Whatever it was told, objects of the worker are as they were.
        if (Object.keys(Object.prototype).length > 0 || 'owned' in {})
          return escaped('prototypes were changed');
        return contained(took);
      } finally {
        await sandbox.close();
      }
    },
  };
}

/** A check that fails after a while, by the engine, while a script of the attacker does what it can. */
async function besideCheck(stage: Stage, script: string): Promise<Finding> {
  const sandbox = await stage.fresh();
  try {
    const attacking = runScript(sandbox, { python: `${forging}\n${script}` }).catch(() => null);
    const signal = AbortSignal.timeout(noticeMs);
    const check = sandbox.runByEngine(['sh', '-c', 'sleep 2; exit 7; : marked-check'], {
      ...{ signal, wallMs: 15_000 },
    });
    const said = await check.then(
      ({ exitCode, timedOut }) => (exitCode === 0 && !timedOut ? 'passed' : `exit code ${exitCode}`),
      (thrown: unknown) => (thrown instanceof PatchfleetError ? thrown.code : String(thrown)),
    );
    await sandbox.close();
    await attacking;
    return said === 'passed' ? escaped('it passed') : contained(`the check says ${said}`);
  } finally {
    await sandbox.close();
  }
}

/** The tool server has no more rights than the agent, and its word is not believed. */
export const toolServer: Family = {
  name: 'tool-server',
  title: 'lying to the worker, and killing what speaks to it',
  attacks: [
    lie(
      'killed',
      'to have the attempt hang or pass by killing the tool server',
      python`os.kill(pid, signal.SIGKILL); time.sleep(30)`,
    ),
    lie(
      'its init killed',
      'to end the first process of the sandbox',
      python`
os.kill(1, signal.SIGKILL); os.kill(1, signal.SIGTERM); time.sleep(1)`,
    ),
    {
      name: 'silent',
      tries: 'to hold the worker for ever by never answering',
      async run(stage) {
        const sandbox = await stage.fresh(4000);
        const outcome = await runScript(sandbox, {
          python: python`os.kill(tool_server(), signal.SIGSTOP); time.sleep(60)`,
        });
        await sandbox.close();
        return 'died' in outcome ? contained(`the attempt ends as ${outcome.died}`) : escaped('it answered');
      },
    },
    {
      name: 'cancelled and silent',
      tries: 'to hold a worker that wants to stop',
      async run(stage) {
        const sandbox = await stage.fresh();
        const stop = new AbortController();
        const running = sandbox.run(['sh', '-c', 'kill -STOP $PPID; sleep 60'], {
          signal: stop.signal,
          wallMs: 60_000,
        });
        setTimeout(() => stop.abort(new Error('superseded')), 1000);
        const said = await running.then(
          () => 'it answered',
          (thrown: unknown) => String(thrown),
        );
        await sandbox.close();
        return said.includes('superseded') ? contained('the worker lets go at once') : escaped(said);
      },
    },
    lie(
      'giant frame',
      'to have the worker take memory for a frame that is announced',
      python`
hold(); raw(struct.pack('>I', 0x7fffffff)); time.sleep(30)`,
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
# Frames of channels, of every kind, for every channel.
for kind in range(0, 256):
    for channel in (0, 1, 2, 0xffffffff):
        for body in (struct.pack('>IB', channel, kind), struct.pack('>BI', kind, channel), struct.pack('>IB', channel, kind) + b'CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n'):
            try: raw(struct.pack('>I', 0x80000000 | len(body)) + body)
            except OSError: sys.exit(0)`,
    ),
    lie(
      'its errors',
      'to fill the worker by the stream of complaints',
      python`
err = os.open('/proc/%d/fd/2' % pid, os.O_WRONLY)
for _ in range(1024): os.write(err, b'x' * 65536)`,
    ),
    {
      name: 'own answer',
      tries: 'to have a failed check pass by answering for it',
      run: (stage) =>
        besideCheck(
          stage,
          python`
for _ in range(60):
    for i in range(2, 40): send({'id': i, 'result': {'exitCode': 0, 'signal': None, 'stdout': 'passed', 'stderr': '', 'timedOut': False, 'isCanceled': False, 'isMaxBuffer': False, 'spawnError': None, 'durationMs': 1}})
    time.sleep(0.05)`,
        ),
    },
    {
      name: 'traced',
      tries: 'to take the tool server over by ptrace, and speak for the check',
      async run(stage) {
        const sandbox = await stage.fresh();
        try {
          const outcome = await runScript(sandbox, {
            python: python`
pid = tool_server()
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
result = libc.ptrace(16, pid, None, None)
print('attached' if result == 0 else 'refused: ' + errno.errorcode[ctypes.get_errno()], flush=True)
if result == 0: time.sleep(0.2); libc.ptrace(17, pid, None, None)`,
          });
          const signal = AbortSignal.timeout(noticeMs);
          const { exitCode } = await sandbox.runByEngine(['sh', '-c', 'exit 7'], { signal, wallMs: 10_000 });
          if (exitCode !== 7) return escaped(`a failed check ended with ${exitCode}`);
          const how = 'died' in outcome ? outcome.died : outcome.ran.stdout.trim();
          return contained(`${how}; a check by the engine says what is so`);
        } finally {
          await sandbox.close();
        }
      },
    },
    {
      name: 'programs of the check',
      tries: 'to put its own programs in the place of those that check',
      async run(stage) {
        const sandbox = await stage.fresh();
        try {
          await runScript(sandbox, {
            sh: `for f in timeout sh true; do for d in /workspace /scratch /tmp /usr/local/bin /usr/local/sbin /usr/bin "$HOME/bin"; do mkdir -p $d 2>/dev/null; printf '#!/bin/sh\\nexit 0\\n' > $d/$f && chmod +x $d/$f; done; done 2>/dev/null; true`,
          });
          const signal = AbortSignal.timeout(noticeMs);
          const { exitCode } = await sandbox.runByEngine(['sh', '-c', 'exit 7'], { signal, wallMs: 10_000 });
          return exitCode === 7
            ? contained('those of the image are run')
            : escaped(`it ended with ${exitCode}`);
        } finally {
          await sandbox.close();
        }
      },
    },
    {
      name: 'check that is killed',
      tries: 'to have a check count as passed by killing it',
      run: (stage) =>
        besideCheck(
          stage,
          python`
end = time.time() + 5
while time.time() < end:
    for p in os.listdir('/proc'):
        try:
            if p.isdigit() and b'marked-check' in open('/proc/' + p + '/cmdline', 'rb').read(): os.kill(int(p), signal.SIGKILL)
        except OSError: pass
    time.sleep(0.01)`,
        ),
    },
    {
      name: 'paths out of the workspace',
      tries: 'to have the tools that write follow its symlinks',
      async run(stage) {
        const sandbox = await stage.fresh();
        try {
          await runScript(sandbox, {
            sh: 'ln -s / /workspace/out; ln -s /scratch/victim /workspace/victim.txt; mkdir -p /scratch; echo x > /scratch/victim',
          });
          const signal = AbortSignal.timeout(noticeMs);
          const done: string[] = [];
          for (const path of [
            'out/scratch/victim',
            '../etc/x',
            '/etc/x',
            'victim.txt',
            'out/tmp/x',
            'a/../../tmp/x',
          ]) {
            await sandbox.write(path, 'owned', { signal }).then(
              () => done.push(path),
              () => {},
            );
          }
          const { stdout } = await sandbox.run(['cat', '/scratch/victim'], { signal, wallMs: 5000 });
          return done.length === 0 && stdout === 'x\n'
            ? contained('refused by name')
            : escaped(done.join(', '));
        } finally {
          await sandbox.close();
        }
      },
    },
  ],
};
