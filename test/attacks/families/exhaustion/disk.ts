import type { Attack } from '../../attack.ts';
import { runScript } from '../../probes.ts';
import { limits } from '../../stage.ts';
import { bomb } from './bomb.ts';

const python = String.raw;

/** Files: their bytes, and their number. */
export const disk: readonly Attack[] = [
  bomb(
    'scratch',
    'to fill the disk by its scratch directory',
    {
      python: python`
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = 0
try:
    for i in range(64):
        with open('/scratch/full-%d' % i, 'wb', buffering=0) as f:
            for _ in range(16): made += f.write(b'x' * (1 << 20))
        if made > ${limits.scratch_mib} << 20: break
    print('no bound', flush=True)
except OSError as e: print('stopped at %d MiB: %s' % (made >> 20, e), flush=True)
for j in range(i + 1): os.unlink('/scratch/full-%d' % j)`,
    },
    { met: [/stopped at [1-9]\d* MiB.*/, 'memory'] },
  ),
  ...['/tmp', '/dev/shm', '/scratch'].map((dir) =>
    bomb(
      `inodes in ${dir}`,
      `to take memory by many files in ${dir}`,
      {
        python: python`
import shutil
made, most = 0, 60000
# gVisor bounds their bytes alone, not their number: with something in each that is met.
content = b'x' * 4096 if own_kernel else b''
os.makedirs('${dir}/many', exist_ok=True)
try:
    while made < most:
        fd = os.open('${dir}/many/%d' % made, os.O_CREAT | os.O_WRONLY)
        if content: os.write(fd, content)
        os.close(fd); made += 1
    print('no bound', flush=True)
except (OSError, MemoryError) as e: print('stopped after %d: %s' % (made, e), flush=True)
shutil.rmtree('${dir}/many', ignore_errors=True)`,
      },
      { met: [/stopped after [1-9]\d*.*/, 'memory'] },
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
    { met: [/stopped at [1-9]\d* MiB.*/] },
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
    { met: [/stopped.*/] },
  ),
  bomb(
    'flushes',
    'to keep the disk busy by writing, and by having all of the machine written out',
    {
      python: python`
for at in range(4):
    if os.fork() == 0:
        while True:
            with open('/workspace/flushed-%d' % at, 'wb', buffering=0) as f: f.write(b'x' * (4 << 20)); os.fsync(f.fileno())
            os.sync()
print('they write', flush=True)
time.sleep(60)`,
    },
    {
      met: ['time'],
      after: async (stage) => {
        const tidied = await runScript(await stage.target(), { sh: 'rm -f /workspace/flushed-*' });
        return 'died' in tidied ? `its sandbox ended: ${tidied.died}` : null;
      },
    },
  ),
];
