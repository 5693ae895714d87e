import { type Attack, contained, escaped, type Family, type Finding, inconclusive } from '../attack.ts';
import { processesOf } from '../host.ts';
import { runScript, type Script } from '../probes.ts';
import { limits, type Stage } from '../stage.ts';

const python = String.raw;

/** What a bomb of memory takes at most, MiB: enough to show that there is no bound, too little to hurt the host. */
const beyondMib = 4 * limits.memory_mib;

/** Threads of the engine's and a runtime's own beside those of the sandbox. */
const slack = 130;

const tmpfsByGvisor =
  'this gVisor keeps no size of a tmpfs: its files are memory of the sandbox, and bounded by that alone';

interface Bomb {
  /** Time it is given, ms; most go on until it is over. */
  readonly wallMs?: number;
  /** Bytes that may come back, at most: what a run keeps of its output. */
  readonly after?: (stage: Stage, sandboxDied: boolean) => Promise<string | null>;
  /** What it takes stays with its sandbox when it has ended: nothing else is tried there. */
  readonly spoils?: boolean;
  /** Text that it must not print: it would mean that there was no bound. */
  readonly mustNotSay?: string;
  /** Why under gVisor it may meet no bound but that of memory. */
  readonly byMemoryAlone?: string;
  /** Text that it must print, to show that it met the bound: else it was not tried. */
  readonly mustSay?: RegExp;
}

/**
 * Goes off in the attacker's sandbox, while the neighbour is asked. It may be stopped by its bound, killed at its
 * time, or end its own sandbox; in each case the neighbour and the host must not notice.
 */
function bomb(name: string, tries: string, script: Script, options: Bomb = {}): Attack {
  return {
    name,
    tries,
    async run(stage): Promise<Finding> {
      const sandbox = await stage.target();
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, processesOf(sandbox.containerId));
      }, 100);
      try {
        const running = runScript(sandbox, script, {
          ...{ wallMs: options.wallMs ?? 2000, env: { RUNTIME: stage.runtime } },
        });
        const noticed = await stage.askNeighbour();
        const outcome = await running;
        if (noticed !== null) return escaped(`while it ran, ${noticed}`);
        if (most > limits.pids + slack) return escaped(`the host had ${most} processes of it`);
        const against = await options.after?.(stage, 'died' in outcome);
        if (against) return escaped(against);
        if ('died' in outcome) return contained(`it ended its own sandbox alone (${outcome.died})`);
        const { stdout, stderr, timedOut, signal, exitCode, isMaxBuffer } = outcome.ran;
        if (stdout.length + stderr.length > 200_000)
          return escaped('more of its output was kept than may be');
        if (options.mustNotSay !== undefined && stdout.includes(options.mustNotSay)) {
          // Said of gVisor, where its files are memory of the sandbox and so within that bound.
          const excuse = stage.runtime === 'runsc' ? options.byMemoryAlone : undefined;
          return excuse === undefined ? escaped('it met no bound') : inconclusive(excuse);
        }
        if (options.mustSay !== undefined && !options.mustSay.test(stdout))
          throw new Error(`it did not meet its bound: ${`${stdout}\n${stderr}`.trim().slice(-300)}`);
        if (timedOut) return contained(isMaxBuffer ? 'cut, and killed at its limit' : 'killed at its limit');
        if (signal !== null) return contained(`killed by ${signal}`);
        return contained(stdout.trim().split('\n').at(-1)?.slice(0, 200) || `it ended with ${exitCode}`);
      } finally {
        clearInterval(watch);
        if (options.spoils === true) await sandbox.close();
      }
    },
  };
}

/** No process of the attack is left in its sandbox, if that is still there. */
async function nothingLeft(stage: Stage, died: boolean): Promise<string | null> {
  if (died) return null;
  const sandbox = await stage.target();
  const look = python`
others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid(), tool_server())]
names = [open('/proc/' + p + '/stat').read() for p in others]
print(len([n for n in names if ') Z ' not in n]))`;
  const outcome = await runScript(sandbox, { python: look });
  if ('died' in outcome) return null;
  return outcome.ran.stdout.trim() === '0'
    ? null
    : `processes were left: ${outcome.ran.stdout} ${outcome.ran.stderr}`;
}

const fill = (kind: string) => python`
made = 0
try:
    ${kind}
except (OSError, MemoryError) as e: print('stopped after %d: %s' % (made, e), flush=True)`;

/** Using up what is shared: processes, memory, disk, descriptors, processors, output. */
export const exhaustion: Family = {
  name: 'exhaustion',
  title: 'bombs: processes, memory, disk, descriptors, processors, output',
  attacks: [
    bomb(
      'fork bomb, shell',
      'to fill the host with processes',
      { sh: 'bomb() { bomb | bomb & }; bomb; sleep 60' },
      { after: nothingLeft },
    ),
    bomb(
      'fork bomb, python',
      'to fill the host with processes that fork on',
      {
        python: python`
while True:
    try: os.fork()
    except OSError: time.sleep(0.01)`,
      },
      { after: nothingLeft },
    ),
    bomb(
      'thread bomb',
      'to fill the host with threads',
      {
        python: python`
import threading
count = 0
try:
    for _ in range(100000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); count += 1
    print('no bound', flush=True)
except RuntimeError as e: print('stopped after %d threads' % count, flush=True)
os._exit(0)`,
      },
      { mustNotSay: 'no bound', wallMs: 10_000 },
    ),
    bomb(
      'workers of node',
      'to fill the host with workers',
      {
        node: `const { Worker } = require('node:worker_threads');
process.on('uncaughtException', () => {});
for (let i = 0; i < 500; i += 1) { try { new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', () => {}); } catch {} }`,
      },
      { after: nothingLeft },
    ),
    bomb(
      'daemons',
      'to leave processes behind that belong to nobody',
      {
        python: python`
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in (0, 1, 2): os.close(fd)
            os.execve('/bin/sleep', ['sleep', '300'], {})
        os._exit(0)
print('20 daemons began', flush=True)`,
      },
      { after: nothingLeft, mustSay: /20 daemons/ },
    ),
    bomb('zombies', 'to fill the table of processes with dead ones', {
      python: python`
count = 0
try:
    while count < 100000:
        if os.fork() == 0: os._exit(0)
        count += 1
except OSError as e: print('stopped after %d: %s' % (count, e), flush=True)
time.sleep(1)`,
    }),
    bomb(
      'deaf to signals',
      'to live on by ignoring every signal',
      {
        sh: `trap '' TERM INT HUP QUIT; while :; do sleep 1; done`,
      },
      { after: nothingLeft },
    ),
    bomb('kill everything', 'to end whatever it can see', { sh: 'kill -9 -1; sleep 30' }),
    bomb(
      'heap',
      'to take all memory by a heap',
      {
        node: `const kept = []; while (kept.length < ${beyondMib / 16}) kept.push(Buffer.alloc(16 << 20, 1)); console.log('no bound');`,
      },
      { mustNotSay: 'no bound', wallMs: 15_000 },
    ),
    bomb(
      'anonymous memory',
      'to take all memory by mapping it',
      {
        python: python`
import mmap
kept = []
for _ in range(${beyondMib / 16}):
    m = mmap.mmap(-1, 16 << 20); m.write(b'x' * (16 << 20)); kept.append(m)
print('no bound', flush=True)`,
      },
      { mustNotSay: 'no bound', wallMs: 15_000 },
    ),
    bomb(
      'memory of a tmpfs',
      'to take all memory by files in /tmp and shared memory',
      {
        sh: `for d in /tmp /dev/shm; do head -c 500000000 /dev/zero > $d/full; stat -c %s $d/full; rm -f $d/full; done 2>/dev/null | while read n; do
test $n -le 67108864 && echo "stopped at $n" || echo 'no bound'; done`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped at/, byMemoryAlone: tmpfsByGvisor, wallMs: 15_000 },
    ),
    bomb(
      'memory of a memfd',
      'to take all memory by files without a name',
      {
        python: python`
fd = os.memfd_create('x') if hasattr(os, 'memfd_create') else call('memfd_create', b'x', 0)[0]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
held = 0
try:
    while held < ${beyondMib} << 20: held += os.write(fd, b'x' * (4 << 20))
    print('no bound', flush=True)
except OSError as e: print('stopped at %d MiB: %s' % (held >> 20, e), flush=True)`,
      },
      { mustNotSay: 'no bound', wallMs: 15_000 },
    ),
    bomb(
      'memory of System V',
      'to take memory that outlives its process',
      {
        python: python`
made = 0
libc.shmat.restype = ctypes.c_void_p
for _ in range(${beyondMib / 16}):
    i = call('shmget', 0, 16 << 20, 0o1600)[0]
    if i == -1: break
    p = libc.shmat(i, None, 0)
    if p in (None, ctypes.c_void_p(-1).value): break
    ctypes.memset(p, 1, 16 << 20); made += 1
print('no bound' if made == ${beyondMib / 16} else 'stopped after %d' % made, flush=True)`,
      },
      { spoils: true, mustNotSay: 'no bound', wallMs: 15_000 },
    ),
    bomb(
      'locked memory',
      'to hold memory that cannot be moved',
      {
        python: python`
import mmap
# One page is too much: all sandboxes take from what one user may hold.
m = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(m))
result, error = call('mlock', ctypes.c_void_p(address), 4096)
print('no bound' if result == 0 and not own_kernel else 'stopped: ' + error, flush=True)
os._exit(0)`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped/ },
    ),
    bomb(
      'pipes',
      'to hold memory of the kernel in pipes',
      {
        python: python`
import fcntl
held = 0
try:
    while True:
        r, w = os.pipe(); os.set_blocking(w, False)
        try: fcntl.fcntl(w, 1031, 1 << 20)
        except OSError: pass
        try:
            while True: held += os.write(w, b'x' * 65536)
        except BlockingIOError: pass
except OSError as e: print('stopped at %d MiB: %s' % (held >> 20, e), flush=True)
os._exit(0)`,
      },
      { wallMs: 15_000 },
    ),
    bomb(
      'scratch',
      'to fill the disk by its scratch directory',
      {
        sh: `head -c 900000000 /dev/zero > /scratch/full 2>/dev/null; n=$(stat -c %s /scratch/full); rm -f /scratch/full; test $n -le ${limits.scratch_mib * 1024 * 1024} && echo "stopped at $n" || echo 'no bound'`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped at/, byMemoryAlone: tmpfsByGvisor, wallMs: 15_000 },
    ),
    ...['/tmp', '/dev/shm', '/scratch'].map((dir) =>
      bomb(
        `inodes in ${dir}`,
        `to take memory by empty files in ${dir}`,
        {
          python: python`
import shutil
os.makedirs('${dir}/many', exist_ok=True)
${fill(`while made < 60000: os.close(os.open('${dir}/many/%d' % made, os.O_CREAT | os.O_WRONLY)); made += 1
    print('no bound')`)}
shutil.rmtree('${dir}/many', ignore_errors=True)`,
        },
        { mustNotSay: 'no bound', mustSay: /stopped after/, byMemoryAlone: tmpfsByGvisor, wallMs: 20_000 },
      ),
    ),
    bomb(
      'one huge file',
      'to fill the disk by one file in its workspace',
      {
        python: python`
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = 0
try:
    with open('/workspace/full', 'wb', buffering=0) as f:
        for _ in range(512): made += f.write(b'x' * (1 << 20))
    print('no bound')
except OSError as e: print('stopped at %d MiB: %s' % (made >> 20, e), flush=True)
try: os.unlink('/workspace/full')
except OSError: pass`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped at/, wallMs: 20_000 },
    ),
    bomb(
      'sparse giant',
      'to make a file that looks larger than any disk',
      {
        python: python`
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with open('/workspace/giant', 'wb') as f: f.truncate(1 << 42)
    print('no bound')
except OSError as e: print('stopped: %s' % e, flush=True)
try: os.unlink('/workspace/giant')
except OSError: pass`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped/ },
    ),
    bomb(
      'descriptors',
      'to use up the open files of the host',
      {
        python: python`
count = 0
kept = []
try:
    while count < 200000: kept.append(os.open('/dev/null', os.O_RDONLY)); count += 1
    os.write(1, b'no bound\n')
except OSError as e: os.write(1, ('stopped after %d: %s\n' % (count, e)).encode())`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped after/, wallMs: 15_000 },
    ),
    bomb(
      'sockets',
      'to use up sockets and their buffers',
      {
        python: python`
kept = []
try:
    while True:
        a, b = socket.socketpair(); a.setblocking(False); kept += [a, b]
        try:
            while True: a.send(b'x' * 65536)
        except BlockingIOError: pass
except OSError as e: os.write(1, ('stopped after %d: %s\n' % (len(kept), e)).encode())`,
      },
      { wallMs: 10_000 },
    ),
    bomb(
      'queued signals',
      'to use up the signals that may wait for its user',
      {
        python: python`
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
count = 0
libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
while count < 100000 and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0: count += 1
# What the kernel would take of the user is a hundred times that.
print('no bound' if count > 1024 and not own_kernel else 'stopped after %d' % count)`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped/ },
    ),
    bomb(
      'message queues',
      'to use up the queues that its user may have',
      {
        python: python`
count = 0
rt = ctypes.CDLL('librt.so.1', use_errno=True)
while count < 1000 and rt.mq_open(b'/q%d' % count, os.O_CREAT | os.O_RDWR, 0o600, None) != -1: count += 1
# The first is one too many: all sandboxes take from what one user may have.
print('no bound' if count > 0 and not own_kernel else 'stopped after %d: %s' % (count, errno.errorcode.get(ctypes.get_errno())))`,
      },
      { mustNotSay: 'no bound', mustSay: /stopped/ },
    ),
    bomb('watches', 'to use up the watches on files that its user may have', {
      python: python`
count = 0
while count < 100000 and libc.inotify_init() != -1: count += 1
print('stopped after %d' % count)
time.sleep(0.5)`,
    }),
    bomb(
      'processors',
      'to take all processors',
      {
        sh: `for i in $(seq 16); do (while :; do :; done) & done; wait`,
      },
      { after: nothingLeft },
    ),
    bomb('endless output', 'to flood the worker', { sh: 'yes flood' }),
    bomb('endless errors', 'to flood the worker by its other stream', { sh: 'yes flood >&2' }),
    bomb('endless line', 'to flood the worker without a line break', { sh: 'cat /dev/zero | tr "\\0" x' }),
    bomb('binary output', 'to confuse the worker by bytes that are no text', { sh: 'cat /dev/urandom' }),
    bomb(
      'closed output',
      'to live on after it closed its output',
      {
        sh: 'exec >&- 2>&-; while :; do sleep 1; done',
      },
      { after: nothingLeft },
    ),
    {
      name: 'idle',
      tries: 'to hold a worker by doing nothing',
      async run(stage) {
        const sandbox = await stage.target();
        const signal = AbortSignal.timeout(60_000);
        const ran = await sandbox.run(['sleep', '600'], { signal, wallMs: 60_000, idleMs: 500 });
        return ran.timedOut ? contained('killed at its idle limit') : escaped('it was left to sleep');
      },
    },
    {
      name: 'outliving its limit',
      tries: 'to live on when the time of its attempt is over',
      async run(stage) {
        const sandbox = await stage.fresh(2500);
        const outcome = await runScript(sandbox, { sh: `trap '' TERM; sleep 600` }, { wallMs: 60_000 });
        await sandbox.close();
        const left = processesOf(sandbox.containerId);
        if (left > 0) return escaped(`${left} processes live on`);
        return 'died' in outcome ? contained(outcome.died) : escaped('it ran on');
      },
    },
  ],
};
