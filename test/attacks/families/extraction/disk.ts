import { type Attack, contained, escaped } from '../../attack.ts';
import { runScript } from '../../probes.ts';
import { limits } from '../../stage.ts';
import { readMs } from './reading.ts';

const python = String.raw;

/** The disk below a workspace. */
export const disk: readonly Attack[] = [
  {
    name: 'many files',
    tries: 'to fill the disk with 20,000 files and have them all read',
    async run(stage) {
      const sandbox = await stage.fresh();
      const outcome = await runScript(sandbox, {
        python: python`
os.makedirs('/workspace/many', exist_ok=True)
for i in range(21000): os.close(os.open('/workspace/many/%d' % i, os.O_CREAT | os.O_WRONLY))
time.sleep(40)`,
      });
      if ('died' in outcome) {
        return outcome.died === 'disk_exhausted'
          ? contained(outcome.died)
          : escaped(`it ended as ${outcome.died}`);
      }
      const entries = await sandbox.harvest(AbortSignal.timeout(readMs));
      await sandbox.close();
      const refused = entries.find((entry) => entry.kind === 'refused' && entry.rule === 'size');
      return refused === undefined ? escaped('all were taken') : contained('refused: size');
    },
  },
  {
    name: 'full workspace',
    tries: 'to fill the disk of the host with files in its workspace',
    async run(stage) {
      const sandbox = await stage.fresh();
      const running = runScript(sandbox, {
        // Ten times what it may write, in files that are each small enough.
        sh: `for i in $(seq ${(10 * limits.workspace_mib) / 16}); do head -c 16777216 /dev/zero > /workspace/full-$i || break; done; sleep 40`,
      });
      const noticed = await stage.askNeighbour();
      const outcome = await running;
      await sandbox.close();
      if (noticed !== null) return escaped(`while it wrote, ${noticed}`);
      if ('died' in outcome)
        return outcome.died === 'disk_exhausted' ? contained(outcome.died) : escaped(outcome.died);
      return escaped('nothing stopped it');
    },
  },
  {
    name: 'files without names',
    tries: 'to fill the disk with a file that is removed and still open',
    async run(stage) {
      const sandbox = await stage.fresh();
      const outcome = await runScript(sandbox, {
        python: python`
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
f = open('/workspace/gone', 'wb', buffering=0); os.unlink('/workspace/gone')
written = 0
try:
    while written < 1 << 31: written += f.write(b'x' * (1 << 20))
    say('escaped', 'it met no bound')
except OSError as e: say('contained', 'one file ends at %d MiB: %s' % (written >> 20, errno.errorcode[e.errno]))`,
      });
      await sandbox.close();
      if ('died' in outcome) return contained(outcome.died);
      return outcome.ran.stdout.includes('contained')
        ? contained(outcome.ran.stdout.trim().slice('contained: '.length))
        : escaped('it met no bound');
    },
  },
];
