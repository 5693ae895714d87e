import type { Attack } from '../../attack.ts';
import { limits } from '../../stage.ts';
import { bomb } from './bomb.ts';

const python = String.raw;

/** What a bomb of memory takes at most, MiB: enough to show that there is no bound, too little to hurt the host. */
const beyondMib = 4 * limits.memory_mib;

/** Memory, by whatever the kernel gives it. */
export const memory: readonly Attack[] = [
  bomb(
    'heap',
    'to take all memory by a heap',
    {
      node: `const kept = []; while (kept.length < ${beyondMib / 16}) kept.push(Buffer.alloc(16 << 20, 1)); console.log('no bound');`,
    },
    { met: ['memory', 'its sandbox'] },
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
    { met: ['memory'] },
  ),
  ...['/tmp', '/dev/shm'].map((dir) =>
    bomb(
      `memory of ${dir}`,
      `to take all memory by files in ${dir}`,
      {
        // Each within what one file may have, and all that they hold beyond what the sandbox may.
        python: python`
made = 0
try:
    for i in range(${beyondMib / 16}):
        with open('${dir}/full-%d' % i, 'wb', buffering=0) as f: made += f.write(b'x' * (16 << 20))
        # This gVisor keeps no size of them: they are memory of the sandbox, and bounded by that.
        if made > 64 << 20: break
    print('no bound', flush=True)
except OSError as e: print('stopped after %d files: %s' % (i, e), flush=True)
for j in range(i + 1): os.unlink('${dir}/full-%d' % j)`,
      },
      { met: [/stopped after [1-9]\d* files/, 'memory'] },
    ),
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
    { met: [/stopped at [1-9]\d* MiB/, 'memory'] },
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
    { met: [/stopped after [1-9]\d*/, 'memory'], spoils: true },
  ),
  bomb(
    'messages of System V',
    'to take memory of the kernel by messages that outlive their process',
    {
      python: python`
made = 0
message = ctypes.create_string_buffer(struct.pack('l', 1) + b'x' * 8192)
while made < 32000:
    queue = call('msgget', 0, 0o1600)[0]
    if queue == -1: break
    while call('msgsnd', queue, message, 8192, 0o4000)[0] == 0: pass
    made += 1
print('no bound' if made == 32000 else 'stopped after %d queues' % made, flush=True)`,
    },
    { met: [/stopped after [1-9]\d* queues/, 'memory'], spoils: true },
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
    { met: [/stopped.*/] },
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
    { met: [/stopped at [1-9]\d* MiB.*/, 'memory'] },
  ),
];
