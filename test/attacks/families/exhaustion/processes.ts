import type { Attack } from '../../attack.ts';
import { limits } from '../../stage.ts';
import { bomb, nothingLeft } from './bomb.ts';

const python = String.raw;

/** Processes, threads, and those that will not end. */
export const processes: readonly Attack[] = [
  bomb(
    'fork bomb, shell',
    'to fill the host with processes',
    // Its first process forks as well, until it must not any more.
    { sh: 'bomb() { bomb | bomb & }; bomb; while (:); do :; done' },
    { met: [/[Cc]annot fork/, 'its sandbox'], after: nothingLeft },
  ),
  bomb(
    'fork bomb, python',
    'to fill the host with processes that fork on',
    {
      python: python`
first = os.getpid()
while True:
    try: os.fork()
    except OSError:
        if os.getpid() == first: break
        time.sleep(0.01)
held = len([p for p in os.listdir('/proc') if p.isdigit()])
os.write(1, b'%s at %d processes' % (b'stopped' if held <= ${limits.pids} else b'no bound', held))
os._exit(0)`,
    },
    { met: [/stopped at [1-9]\d* processes/, 'its sandbox'], after: nothingLeft },
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
    { met: [/stopped after [1-9]\d* threads/, 'memory'] },
  ),
  bomb(
    'workers of node',
    'to fill the host with workers',
    {
      node: `const { Worker } = require('node:worker_threads');
let begun = 0;
const stop = () => { console.log('stopped after ' + begun + ' workers'); process.exit(); };
process.on('uncaughtException', stop);
for (; begun < 500; begun += 1) new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', stop);
console.log('no bound');`,
    },
    {
      met: [/stopped after [1-9]\d* workers/, 'crash', 'memory', 'its sandbox'],
      after: nothingLeft,
    },
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
    { met: [/20 daemons began/], after: nothingLeft },
  ),
  bomb(
    'zombies',
    'to fill the table of processes with dead ones',
    {
      python: python`
count = 0
try:
    while count < 100000:
        if os.fork() == 0: os._exit(0)
        count += 1
except OSError as e: print('stopped after %d: %s' % (count, e), flush=True)
time.sleep(1)`,
    },
    // gVisor has no number of them, and takes its time.
    { met: [/stopped after [1-9]\d*/, 'time'] },
  ),
  bomb(
    'deaf to signals',
    'to live on by ignoring every signal',
    {
      sh: `trap '' TERM INT HUP QUIT; while :; do sleep 1; done`,
    },
    { met: ['time'], after: nothingLeft },
  ),
  bomb(
    'kill everything',
    'to end whatever it can see',
    { sh: 'kill -9 -1; sleep 30' },
    { met: ['its sandbox'] },
  ),
];
