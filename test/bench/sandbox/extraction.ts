import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspaces } from '../../../src/sandbox/workspaces/workspaces.ts';
import { contentOf, pathOf } from '../merge/repository.ts';
import { median, ofThree, spread } from './figures.ts';
import { createStageWorkspaces, type SnapshotOf, type Stage } from './stage.ts';

const sizes = [1000, 20_000, 50_000];
const changes = [1, 100];
const rounds = 7;

/** Reading what was changed, in repositories of several sizes: it should go with the changes. */
export async function measureExtraction(stage: Stage) {
  const cases: { repository: SnapshotOf; changed: number; times: number[] }[] = [];
  for (const files of sizes) {
    const repository = await stage.snapshotOf(files);
    for (const changed of changes) cases.push({ repository, changed, times: [] });
  }
  const workspaces = createStageWorkspaces(stage);
  // The first round reads from the disk what the others find in memory.
  for (let round = -1; round < rounds; round += 1) {
    for (const { repository, changed, times } of cases) {
      stage.signal.throwIfAborted();
      const ms = await extract(workspaces, repository, changed, stage.signal);
      if (round >= 0) times.push(ms);
    }
  }
  return {
    extraction: cases.map(({ repository, changed, times }) => ({
      repoFiles: repository.files,
      changed,
      ms: ofThree(median(times)),
    })),
  };
}

async function extract(
  workspaces: Workspaces,
  { snapshot, files }: SnapshotOf,
  changed: number,
  signal: AbortSignal,
): Promise<number> {
  const workspace = await workspaces.create({ snapshot }, signal);
  try {
    const { mount } = workspace;
    if (mount.kind !== 'bind') throw new Error('changes can be made in mounted workspaces alone');
    for (const at of spread(files, changed))
      await writeFile(join(mount.dir, pathOf(at)), `${contentOf(at)}export const changed = ${at};\n`);
    const begin = performance.now();
    const entries = await workspace.harvest(signal);
    const ms = performance.now() - begin;
    if (entries.length !== changed)
      throw new Error(`${entries.length} changes were read where ${changed} were made`);
    return ms;
  } finally {
    await workspace.remove();
  }
}
