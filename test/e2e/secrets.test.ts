import Docker from 'dockerode';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { describeWorld, untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { waitingCalls } from '../support/model/create-model-double.ts';

/** What must appear nowhere: the exact values we know, and the shapes of those we do not. */
function canaries({ github, modelKey }: World): RegExp[] {
  const keyBody = github.app.privateKey.split('\n')[3] ?? 'no key';
  return [
    /gh[pousr]_[A-Za-z0-9_]{10,}/,
    /eyJ[\w-]{10,}\.[\w-]{10,}\./,
    /PRIVATE KEY/,
    ...[keyBody, github.app.webhookSecret, modelKey].map(
      (secret) => new RegExp(secret.replace(/\W/g, '\\$&')),
    ),
  ];
}

/** Of the app's processes, what they started, and what works in its directory; those of others say nothing of us. */
async function argumentsOf({ apps, dataDir }: World): Promise<string[]> {
  const { stdout } = await execa('ps', ['-ww', '-eo', 'pid=,ppid=,args=']);
  const all = stdout.split('\n').map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line)?.slice(1) ?? []);
  const own = new Set(apps.map(({ pid }) => String(pid)));
  for (let size = 0; size < own.size; ) {
    size = own.size;
    for (const [pid = '', parent = '', args = ''] of all)
      if (own.has(parent) || args.includes(dataDir)) own.add(pid);
  }
  return all.flatMap(([pid = '', , args = '']) => (own.has(pid) ? [args] : []));
}

describe('secrets', () => {
  it.each(['review', 'bad_key'] as const)(
    'appear in nothing that leaves the control plane (model: %s)',
    async (mode) => {
      await using world = await startWorld({
        files: smallRepository,
        model: { mode },
        operator: { limits: { retries: 0 } },
        env: { LOG_LEVEL: 'trace' },
      });
      const { github, model, repository, dataDir } = world;
      await github.setPermission(repository, 'wilma', 'write');
      const release = model.hold();
      const pull = await github.openPullRequest(repository, { branch: 'change', files: faultyChange });
      const sandbox = await until('an agent waits for the model', () => waitingCalls(model)[0]?.sandbox, {
        describe: () => describeWorld(world),
      });
      const container = new Docker().getContainer(sandbox);
      const inspected = await container.inspect();
      const { Processes: inside } = (await container.top()) as { Processes: string[][] };
      // Arguments of processes can be read by any user of the machine.
      const processes = [...(await argumentsOf(world)), ...inside.map((cells) => cells.join(' '))];
      release();
      await untilDone(world, pull.headSha);
      await github.comment(repository, pull.number, { author: 'wilma', body: '/patchfleet status' });
      await untilIdle(world);
      await world.apps[0]?.stop();

      // Not the database: deliveries are kept as they came, and hold no secret either.
      // Postgres' own libraries, where they are linked in, know what a key begins with.
      const own = '--exclude-dir=postgres-files';
      const grep = await execa(
        'grep',
        ['-rlaE', own, 'gh[s]_[A-Za-z0-9]{20}|PRIVATE KEY|canary-model', dataDir],
        {
          reject: false,
        },
      );
      const places = {
        writes: JSON.stringify(github.writes().map(({ path, body }) => [path, body])),
        logs: world.apps.map((app) => app.logs()).join(''),
        prompts: JSON.stringify(model.journal().map(({ body }) => body)),
        containers: JSON.stringify(inspected),
        arguments: processes.join('\n'),
        files: grep.stdout,
      };
      expect(inspected.State.Running).toBe(true);
      expect(places.arguments).toMatch(/main\.ts all[\s\S]*tool-server/);
      expect(places.logs.length).toBeGreaterThan(0);
      expect(places.files).toBe('');
      const leaks = Object.entries(places).flatMap(([place, text]) =>
        canaries(world).flatMap((canary) => {
          const found = canary.exec(text);
          return found === null
            ? []
            : [`${place}: ...${text.slice(Math.max(0, found.index - 200), found.index)}<SECRET>`];
        }),
      );
      expect(leaks).toEqual([]);
    },
  );
});
