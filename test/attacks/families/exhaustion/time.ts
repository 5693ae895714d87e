import { type Attack, contained, escaped } from '../../attack.ts';
import { processesOf } from '../../host.ts';
import { runScript } from '../../probes.ts';
import { bomb, nothingLeft } from './bomb.ts';

/** Far more than is kept of any output. */
const much = 'head -c 100000000';

/** Processors, output, and the time of the worker. */
export const time: readonly Attack[] = [
  bomb(
    'processors',
    'to take all processors',
    {
      // What the kernel says of its turn: how much it gets shows on an idle machine alone.
      sh: `case $(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2> /dev/null) in -1 | max*) echo 'no bound';; esac
for i in $(seq 16); do (while :; do :; done) & done; wait`,
    },
    { met: ['time'], after: nothingLeft },
  ),
  bomb('flood of output', 'to flood the worker', { sh: `yes flood | ${much}` }, { met: ['cut'] }),
  bomb(
    'flood of errors',
    'to flood the worker by its other stream',
    { sh: `yes flood | ${much} >&2` },
    { met: ['cut'] },
  ),
  bomb(
    'flood without a line',
    'to flood the worker without a line break',
    { sh: `tr "\\0" x < /dev/zero | ${much}` },
    { met: ['cut'] },
  ),
  bomb(
    'flood of bytes',
    'to confuse the worker by bytes that are no text',
    { sh: `${much} < /dev/urandom` },
    { met: ['cut'] },
  ),
  bomb(
    'closed output',
    'to live on after it closed its output',
    {
      sh: 'exec >&- 2>&-; while :; do sleep 1; done',
    },
    { met: ['time'], after: nothingLeft },
  ),
  {
    name: 'idle',
    tries: 'to hold a worker by doing nothing',
    async run(stage) {
      const sandbox = await stage.target();
      const signal = AbortSignal.timeout(60_000);
      const ran = await sandbox.run(['sleep', '600'], { signal, wallMs: 600_000, idleMs: 500 });
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
      return 'died' in outcome && outcome.died === 'wall_limit'
        ? contained(outcome.died)
        : escaped('it ran on');
    },
  },
];
