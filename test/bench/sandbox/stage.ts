import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SandboxConfig, sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSnapshots } from '../../../src/sandbox/bases/snapshots.ts';
import { labels } from '../../../src/sandbox/container/container-spec.ts';
import { connectEngine, type Engine } from '../../../src/sandbox/container/docker-host.ts';
import { removeContainer } from '../../../src/sandbox/container/remove-container.ts';
import { createSandboxes, type DockerSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';
import type { SandboxRequest } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import type { SandboxLog } from '../../../src/sandbox/sandbox-log.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { createWorkspaces } from '../../../src/sandbox/workspaces/create-workspaces.ts';
import type { Workspaces } from '../../../src/sandbox/workspaces/workspaces.ts';
import { initBare, writeHistory } from '../../integration/mirror/build-repository.ts';
import { contentOf, pathOf } from '../merge/repository.ts';

/** A repository in a bare mirror and the snapshot of its one commit. */
export interface SnapshotOf {
  readonly files: number;
  readonly gitDir: string;
  readonly commit: string;
  readonly snapshot: string;
}

/** What all parts of the benchmark stand on: an instance of their own on the machine's engine, in one directory. */
export interface Stage {
  readonly home: string;
  readonly engine: Engine;
  readonly instance: string;
  readonly worker: string;
  readonly user: ReturnType<typeof sandboxUser>;
  readonly config: SandboxConfig;
  readonly signal: AbortSignal;
  readonly workspacesDir: string;
  readonly say: (line: string) => void;
  /** Warnings of what is measured. */
  readonly log: SandboxLog;
  /** Sandboxes as the program makes them, but for these settings. */
  sandboxes(change?: Partial<SandboxConfig>): DockerSandboxes;
  /** A request of an attempt of its own. */
  request(snapshot: string): SandboxRequest;
  /** Made once for each number of files. */
  snapshotOf(files: number): Promise<SnapshotOf>;
  /** Ids of all containers, in any state. */
  containers(): Promise<string[]>;
  end(): Promise<void>;
}

const wallMs = 600_000;

export async function openStage(options: {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}): Promise<Stage> {
  const { signal, say } = options;
  const home = await mkdtemp(join(tmpdir(), 'patchfleet-bench-sandbox-'));
  const engine = connectEngine(process.env['DOCKER_HOST']);
  const instance = `bench-${randomBytes(6).toString('hex')}`;
  const image = process.env['PATCHFLEET_TEST_IMAGE'];
  const config = sandboxConfigSchema.parse(image === undefined ? {} : { image });
  const workspacesDir = join(home, 'workspaces');
  const snapshots = createSnapshots({ dir: join(home, 'snapshots') });
  const log: SandboxLog = { warn: (fields, message) => say(`${message}: ${JSON.stringify(fields)}`) };
  const made = new Map<number, SnapshotOf>();
  const opened: DockerSandboxes[] = [];

  const containers = async () => {
    const filters = { label: [`${labels.instance}=${instance}`] };
    return (await engine.requests.listContainers({ all: true, filters })).map(({ Id }) => Id);
  };
  return {
    ...{
      home,
      engine,
      instance,
      worker: 'bench',
      user: sandboxUser(),
      config,
      signal,
      workspacesDir,
      say,
      log,
    },
    sandboxes(change = {}) {
      const sandboxes = createSandboxes({
        ...{ dockerHost: process.env['DOCKER_HOST'], instance, worker: 'bench', workspacesDir },
        config: { ...config, ...change },
        log,
      });
      opened.push(sandboxes);
      return sandboxes;
    },
    request: (snapshot) => ({ taskId: randomUUID(), attemptId: randomUUID(), snapshot, wallMs }),
    async snapshotOf(files) {
      const known = made.get(files);
      if (known !== undefined) return known;
      say(`a repository of ${files} files`);
      const gitDir = join(home, 'mirrors', `${files}.git`);
      initBare(gitDir);
      const all = Array.from({ length: files }, (_, at) => ({ path: pathOf(at), content: contentOf(at) }));
      const [commit = ''] = writeHistory(gitDir, [all]);
      const snapshot = await snapshots.ensure({ id: files, mirrorDir: gitDir }, commit, signal);
      const one = { files, gitDir, commit, snapshot };
      made.set(files, one);
      return one;
    },
    containers,
    async end() {
      for (const sandboxes of opened) {
        await sandboxes.close();
        // What was in use belongs to nobody any more, either.
        await sandboxes.reap(async () => false);
      }
      const left = await containers();
      for (const id of left) await removeContainer(engine.requests, id);
      await removeTree(home);
      if (left.length > 0) throw new Error(`${left.length} containers were left`);
    },
  };
}

/** Workspaces as the stage's sandboxes have them, by themselves. */
export function createStageWorkspaces(stage: Stage): Workspaces {
  return createWorkspaces({ ...stage, root: stage.workspacesDir });
}

/** A directory that a container may have for a workspace, with nothing in it. */
export async function emptyDirectory(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o777 });
  return dir;
}

/** Milliseconds that it took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
