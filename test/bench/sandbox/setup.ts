import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { Sandboxes } from '../../../src/sandbox/port.ts';
import { createPreparedLayers } from '../../../src/sandbox/prepared-layers.ts';
import { createSandboxKinds } from '../../../src/sandbox/sandbox-kinds.ts';
import { initBare, writeHistory } from '../../integration/mirror/build-repository.ts';
import { setupFigures } from './figures.ts';
import type { Stage } from './stage.ts';

const attempts = 50;
const files = 3000;
const kibEach = 100;
const mib = Math.round((files * kibEach) / 1024);
/** Each with other bytes, so that nothing can be shared that would not be. */
const script = `set -eu
mkdir -p node_modules/pkg
i=0
while [ "$i" -lt ${files} ]; do
  { echo "$i"; head -c ${kibEach * 1024 - 8} /dev/zero; } > "node_modules/pkg/$i.js"
  i=$((i + 1))
done
`;
const repositoryId = 7;

/** Many attempts of a repository whose setup brings much, beside attempts of the same without one. */
export async function measureSetup(stage: Stage) {
  const { signal, say } = stage;
  const gitDir = join(stage.home, 'mirrors', 'setup.git');
  initBare(gitDir);
  const content = { path: 'package.json', content: '{}\n' };
  const [commit = ''] = writeHistory(gitDir, [[content, { path: 'tools/install.sh', content: script }]]);
  const withSetup = repositoryConfigSchema.parse({ setup: { commands: [['sh', 'tools/install.sh']] } });
  const without = repositoryConfigSchema.parse({});

  const sandboxes = stage.sandboxes({ pool: { ...stage.config.pool, max: 0 } });
  let runs = 0;
  const counted: Pick<Sandboxes, 'acquire'> = {
    acquire: (request, abort) => {
      runs += 1;
      return sandboxes.acquire(request, abort);
    },
  };
  const prepared = createPreparedLayers({
    ...{ dir: join(stage.home, 'prepared'), config: stage.config, sandboxes: counted },
    ...{ snapshots: stage.snapshots, log: stage.log },
    failures: { fresh: async () => null, put: async () => {} },
  });
  const kinds = createSandboxKinds({ config: stage.config, sandboxes, snapshots: stage.snapshots, prepared });

  const kindOf = (config: typeof without) =>
    kinds.of(
      {
        ...{ repository: { id: repositoryId, mirrorDir: gitDir }, commit, trusted: commit, config },
        ...{ taskId: randomUUID(), use: 'agent' },
      },
      signal,
    );
  /** From a claimed attempt to a sandbox that an agent can begin in. */
  const start = async (config: typeof without): Promise<number> => {
    const begin = performance.now();
    const kind = await kindOf(config);
    const sandbox = await sandboxes.acquire(
      { ...kind, taskId: randomUUID(), attemptId: randomUUID(), wallMs: 600_000 },
      signal,
    );
    const ms = performance.now() - begin;
    try {
      const last = `node_modules/pkg/${files - 1}.js`;
      const { exitCode } = await sandbox.run(['test', '-s', last], { signal, wallMs: 10_000 });
      if ((exitCode === 0) !== (config === withSetup))
        throw new Error(`${last} is not as the setup leaves it`);
      return ms;
    } finally {
      await sandbox.close();
    }
  };

  await kindOf(without);
  say(`${attempts} attempts want ${mib} MiB of dependencies at once`);
  const begin = performance.now();
  await Promise.all(Array.from({ length: attempts }, () => kindOf(withSetup)));
  const firstMs = performance.now() - begin;
  const times = { later: [] as number[], without: [] as number[] };
  for (let attempt = 1; attempt < attempts; attempt += 1) {
    signal.throwIfAborted();
    times.later.push(await start(withSetup));
    times.without.push(await start(without));
  }
  return { setup: setupFigures({ mib, runs, firstMs, ...times }) };
}
