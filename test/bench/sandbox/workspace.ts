import { randomBytes } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { createSandboxOpener } from '../../../src/sandbox/open-sandbox.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { type Workspaces, workspaceId } from '../../../src/sandbox/workspaces/workspaces.ts';
import { contentOf, pathOf } from '../merge/repository.ts';
import { type WorkspaceRound, workspaceFigures } from './figures.ts';
import { createStageWorkspaces, type SnapshotOf, type Stage, timed } from './stage.ts';

const files = 20_000;
const rounds = 20;
/** Written first: a file that is there. */
const written = pathOf(12_345);
const content = `${contentOf(12_345)}export const changed = true;\n`;

/** A workspace over a large repository, beside `git worktree add` of the same. */
export async function measureWorkspaces(stage: Stage) {
  const repository = await stage.snapshotOf(files);
  const real = createStageWorkspaces(stage);
  stage.say(`workspaces are made by ${await real.mode(stage.signal)}`);
  const open = openers(stage, real);
  const measured: WorkspaceRound[] = [];
  for (let round = 0; round < rounds; round += 1) {
    stage.signal.throwIfAborted();
    const worktreeMs = await addWorktree(stage, repository, round);
    // In turns: whatever the first one warms up is the next one's.
    const first = round % 2 === 0;
    const early = first ? await open.without(repository.snapshot) : null;
    const own = await open.over(repository.snapshot);
    const withoutMs = early ?? (await open.without(repository.snapshot));
    measured.push({ worktreeMs, withoutMs, ...own });
    stage.say(`workspace ${round + 1} of ${rounds}`);
  }
  return workspaceFigures(measured);
}

/** Opens containers with real workspaces and without, times what they do, and closes them. */
function openers(stage: Stage, real: Workspaces) {
  const spent = { createMs: 0, harvestMs: 0, removeMs: 0 };
  const watched: Workspaces = {
    ...real,
    async create(base, signal) {
      const begin = performance.now();
      const workspace = await real.create(base, signal);
      spent.createMs = performance.now() - begin;
      return {
        ...workspace,
        async harvest(abort) {
          const from = performance.now();
          const entries = await workspace.harvest(abort);
          spent.harvestMs = performance.now() - from;
          return entries;
        },
        async remove() {
          spent.removeMs = await timed(workspace.remove);
        },
      };
    },
  };
  const opener = (workspaces: Workspaces) => {
    return createSandboxOpener({ ...stage, workspaces, hosts: join(stage.home, 'hosts') });
  };
  const over = opener(watched);
  const nothing = opener(emptyWorkspaces(stage, real));
  const { signal } = stage;
  return {
    async without(snapshot: string): Promise<number> {
      const begin = performance.now();
      const opened = await nothing.open({ snapshot }, signal);
      const ms = performance.now() - begin;
      await opened.discard();
      return ms;
    },
    async over(snapshot: string) {
      const before = await bytesBelow(stage.workspacesDir);
      const begin = performance.now();
      const opened = await over.open({ snapshot }, signal);
      const withMs = performance.now() - begin;
      const sandbox = opened.handOver(60_000);
      try {
        const writeMs = await timed(() => sandbox.write(written, content, { signal }));
        const harvest = await sandbox.harvest(signal);
        if (harvest.map(({ path }) => path).join() !== written)
          throw new Error(`the patch has ${harvest.length} files where one was written`);
        const bytes = (await bytesBelow(stage.workspacesDir)) - before;
        await sandbox.close();
        return { withMs, writeMs, bytes, ...spent };
      } finally {
        await sandbox.close();
      }
    },
  };
}

/** A directory with nothing in it in place of each workspace. */
function emptyWorkspaces({ workspacesDir, worker, user }: Stage, real: Workspaces): Workspaces {
  return {
    ...real,
    async create() {
      const id = workspaceId(worker, randomBytes(8).toString('hex'));
      const dir = join(workspacesDir, id);
      await mkdir(dir, { recursive: true });
      await chown(dir, user.uid, user.gid);
      const refuse = async () =>
        await Promise.reject(new Error('an empty workspace is for nothing but to be there'));
      return {
        ...{ id, mount: { kind: 'bind', dir } as const },
        use: async () => ({ bytes: 0, entries: 0 }),
        ...{ harvest: refuse, keep: refuse, remove: () => removeTree(dir) },
      };
    },
  };
}

/** What lies on the disk below a directory, whatever is mounted there left out. */
async function bytesBelow(dir: string): Promise<number> {
  const { stdout } = await execa('du', ['-sx', '--block-size=1', dir], { reject: false });
  return Number(stdout.split('\t')[0] ?? 0);
}

async function addWorktree(
  { home, signal }: Stage,
  { gitDir, commit }: SnapshotOf,
  round: number,
): Promise<number> {
  const dir = join(home, `worktree-${round}`);
  const env = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };
  const git = (...args: string[]) =>
    execa('git', [`--git-dir=${gitDir}`, ...args], { env, cancelSignal: signal });
  const ms = await timed(() => git('worktree', 'add', '--quiet', '--detach', dir, commit));
  await git('worktree', 'remove', '--force', dir);
  return ms;
}
