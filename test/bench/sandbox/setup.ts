import { join } from 'node:path';
import { execa } from 'execa';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { KindRequest, Sandboxes } from '../../../src/sandbox/port.ts';
import { kindsBelow } from '../../support/sandbox-kinds.ts';
import { setupFigures } from './figures.ts';
import type { Stage } from './stage.ts';

const attempts = 50;
/** Dependencies, in files of 100 KiB: few large ones say nothing of copying, many small ones make the setup long. */
const mib = 300;
const install = `mkdir -p node_modules/dep && cd node_modules/dep &&
  i=0; while [ $i -lt ${mib} ]; do
    mkdir $i; head -c 1048576 /dev/urandom | split -b 102400 - $i/part-; i=$((i+1)); done`;

/**
 * A repository whose setup brings 300 MiB, and the same without a setup. All attempts ask for their sandboxes at once, so
 * that those behind the first wait for it; then they start one after the other, in turns with attempts that have no setup.
 */
export async function measureSetup(stage: Stage) {
  const repository = await stage.snapshotOf(1000);
  const sandboxes = stage.sandboxes({ pool: { ...stage.config.pool, max: 0 } });
  let runs = 0;
  const { kinds } = kindsBelow(join(stage.home, 'setup'), sandboxes, { onSetup: () => (runs += 1) });
  const ask = (commands: string[][]): KindRequest => ({
    repository: { id: 1, mirrorDir: repository.gitDir },
    ...{ commit: repository.commit, trusted: repository.commit, taskId: 'bench', use: 'agent' },
    config: repositoryConfigSchema.parse({ setup: { commands } }),
  });
  const prepared = ask([['sh', '-ec', install]]);
  const plain = ask([]);
  const { signal } = stage;

  stage.say(`${attempts} attempts ask for a setup of ${mib} MiB`);
  // What both sides share is made before: the snapshot.
  await kinds.of(plain, signal);
  const firstMs = await startOne(stage, sandboxes, () => kinds.of(prepared, signal), [
    ...Array.from({ length: attempts - 1 }, () => kinds.of(prepared, signal)),
  ]);
  const later: number[] = [];
  const without: number[] = [];
  for (let attempt = 1; attempt < attempts; attempt += 1) {
    signal.throwIfAborted();
    later.push(await startOne(stage, sandboxes, () => kinds.of(prepared, signal)));
    without.push(await startOne(stage, sandboxes, () => kinds.of(plain, signal)));
  }
  const { prepared: layer } = await kinds.of(prepared, signal);
  const { stdout } = await execa('du', ['-sm', '--', layer ?? '']);
  if (Number.parseInt(stdout, 10) < mib) throw new Error(`the layer has ${stdout}`);
  return { setup: setupFigures({ mib, runs, firstMs, later, without }) };
}

/** Milliseconds from the question what an attempt's sandbox is made of to the end of its first command. */
async function startOne(
  stage: Stage,
  sandboxes: Sandboxes,
  kindOf: () => ReturnType<ReturnType<typeof kindsBelow>['kinds']['of']>,
  beside: readonly Promise<unknown>[] = [],
): Promise<number> {
  const begin = performance.now();
  const kind = await kindOf();
  const sandbox = await sandboxes.acquire({ ...stage.request(kind.snapshot), ...kind }, stage.signal);
  try {
    const argv = ['sh', '-c', kind.prepared == null ? 'true' : 'test -s node_modules/dep/299/part-aa'];
    const { exitCode } = await sandbox.run(argv, { signal: stage.signal, wallMs: 10_000 });
    const ms = performance.now() - begin;
    if (exitCode !== 0) throw new Error('the dependencies are not there');
    await Promise.all(beside);
    return ms;
  } finally {
    await sandbox.close();
  }
}
