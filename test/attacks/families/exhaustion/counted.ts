import type { Sandbox } from '../../../../src/sandbox/port.ts';
import { type Attack, contained, escaped } from '../../attack.ts';
import { runScript, whileItHolds } from '../../probes.ts';
import { bomb } from './bomb.ts';

const python = String.raw;

/**
 * Takes what the kernel counts per user, as much as it gives (`count`). While it holds that, the neighbour, who is the
 * same user, must answer, though it may lack some as well; once it has ended the neighbour must have it (`works`).
 */
function taken(name: string, tries: string, take: string, need: string): Attack {
  return {
    name,
    tries,
    async run(stage) {
      const holder = { sandbox: await stage.target(), env: { RUNTIME: stage.runtime } };
      const script = python`
count = 0
# Whoever else attacks on this machine, as the same user, may hold them all for a moment.
${patiently('count > 0', take)}
print('took %d' % count, flush=True)
hold()`;
      const { held, used: noticed } = await whileItHolds(
        { ...holder, script },
        async () => (await stage.askNeighbour()) ?? (await askCheck(stage.neighbour)),
      );
      const took = 'died' in held ? held.died : (/took [1-9]\d*/.exec(held.ran.stdout)?.[0] ?? null);
      if (took === null) throw new Error('it could take none');
      if (noticed !== null) return escaped(`while it had taken all, ${noticed}`);
      const after = await runScript(stage.neighbour, {
        python: `works = False
${patiently('works', need)}
print('works' if works else 'lacks')`,
      });
      if ('died' in after) throw new Error(`the neighbour ended: ${after.died}`);
      return after.ran.stdout.includes('works')
        ? contained(`it ${took}; the neighbour answers, and has them once it has ended`)
        : escaped(`it ${took}, and they are not given back: ${after.ran.stderr.slice(-200)}`);
    },
  };
}

/** Does something in Python again and again, until that is so; gives up in the end. */
function patiently(isSo: string, act: string): string {
  return python`
for _ in range(300):
${act.trim().replaceAll(/^/gm, '    ')}
    if ${isSo}: break
    time.sleep(0.1)`;
}

/** Whether a check of the neighbour says what is so. Null: it does. */
async function askCheck(neighbour: Sandbox): Promise<string | null> {
  const signal = AbortSignal.timeout(60_000);
  const { exitCode } = await neighbour.runByEngine(['sh', '-c', 'exit 7'], { signal, wallMs: 60_000 });
  return exitCode === 7 ? null : `a check of the neighbour ended with ${exitCode}`;
}

/** What the kernel counts: for a process, or for a user, and all sandboxes have one. */
export const counted: readonly Attack[] = [
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
    { met: [/stopped after [1-9]\d*.*/] },
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
    { met: [/stopped after [1-9]\d*.*/, 'memory'] },
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
    { met: [/stopped.*/] },
  ),
  taken(
    'queued signals',
    'to take all signals that may wait for its user, which other sandboxes have as well',
    python`
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
number = int(signal.SIGRTMIN)
while count < 1000000 and libc.sigqueue(os.getpid(), number, None) == 0: count += 1`,
    python`
# Each takes one of those that its user may have.
timer = ctypes.c_void_p()
works = all(libc.timer_create(1, None, ctypes.byref(timer)) == 0 for _ in range(100))`,
  ),
  taken(
    'watches',
    'to take all that tells of changed files',
    python`
while count < 100000 and libc.inotify_init() != -1: count += 1`,
    python`
works = libc.inotify_init() != -1`,
  ),
  taken(
    'descriptors on their way',
    'to take all descriptors that may be on their way from one process to another',
    python`
kept = []
try:
    while count < 100000:
        a, b = socket.socketpair(); a.setblocking(False); kept += [a, b]
        try:
            while True: socket.send_fds(a, [b'x'], [0]); count += 1
        except BlockingIOError: pass
except OSError: pass
for s in kept[4:]: s.setblocking(False)`,
    python`
a, b = socket.socketpair()
socket.send_fds(a, [b'x'], [0])
works = len(socket.recv_fds(b, 1, 1)[1]) == 1`,
  ),
];
