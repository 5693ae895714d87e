import { until } from '../../../support/app/until.ts';
import { type Attack, contained, escaped } from '../../attack.ts';
import { processesOf } from '../../host.ts';
import { runScript } from '../../probes.ts';
import { readMs } from './reading.ts';

/** What changes while it is read. */
export const race: readonly Attack[] = [
  {
    name: 'symlink in a race',
    tries: 'to swap a directory for a symlink while it is read',
    async run(stage) {
      const sandbox = await stage.fresh();
      const { canary } = stage;
      try {
        // Until it is ended from outside: reading begins while it goes on.
        const swapping = runScript(
          sandbox,
          {
            sh: `trap '' TERM HUP; mkdir real; echo honest > real/secret; cp -r real swap; touch going
while :; do rm -rf swap; ln -s "$(dirname "$CANARY_FILE")" swap; rm swap; cp -r real swap; done`,
          },
          { env: { CANARY_FILE: canary.file }, wallMs: readMs },
        );
        const signal = AbortSignal.timeout(readMs);
        const goes = () =>
          sandbox.read('going', { signal }).then(
            () => true,
            () => false,
          );
        await until('it swaps', goes, { everyMs: 20 });
        const entries = await sandbox.harvest(signal);
        const left = processesOf(sandbox.containerId);
        const outcome = await swapping;
        if (left > 0) return escaped(`${left} processes went on while it was read`);
        if (!('died' in outcome)) throw new Error('it had ended before it was read');
        const files = entries.filter((entry) => entry.kind === 'file');
        const contents = await Promise.all(files.map(async (entry) => (await entry.read()).toString('utf8')));
        if (contents.some((content) => content.includes(canary.secret)))
          return escaped('the secret of the host was read');
        if (!contents.includes('honest\n')) throw new Error('what it wrote is not there');
        return contained(`it had ended (${outcome.died}) before the first look`);
      } finally {
        await sandbox.close();
      }
    },
  },
];
