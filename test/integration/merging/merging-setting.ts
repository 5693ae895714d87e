import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { VerificationCommand } from '../../../src/domain/verification.ts';
import { createMirrors } from '../../../src/github/mirror.ts';
import type { TreeChange } from '../../../src/github/port.ts';
import type { MergePatch, VerificationContext } from '../../../src/merging/port.ts';
import { createVerifier } from '../../../src/merging/verify.ts';
import type { Sandbox, Sandboxes } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { createSharedWork } from '../../../src/sandbox/shared-work.ts';
import { createVerifications } from '../../../src/store/verifications.ts';
import { openTestDatabase } from '../../support/database.ts';
import { kindsBelow } from '../../support/sandbox-kinds.ts';
import { initBare, writeHistory } from '../mirror/build-repository.ts';
import { createSetting, never } from '../sandbox/docker-setting.ts';

export type Files = Readonly<Record<string, string | null>>;

/** `node --test` over the tests of the repository, as it would be detected. */
export const nodeTests: VerificationCommand = {
  name: 'node --run test',
  argv: ['node', '--run', 'test'],
  cwd: '',
};
export const manifest = (test: string) =>
  `${JSON.stringify({ type: 'module', scripts: { test } }, null, 2)}\n`;

/** With a commit of its tree, for others to build upon. */
export interface MadePatch extends MergePatch {
  readonly commit: string;
}

/** A repository on a file server, its mirror, and commits as patches make them. No container. */
export async function createGitSetting(files: Files, branch = 'main') {
  const home = mkdtempSync(join(tmpdir(), 'patchfleet-merging-'));
  const origin = join(home, 'origin/acme/widgets.git');
  initBare(origin);
  const push = (...trees: Files[]) =>
    writeHistory(
      origin,
      trees.map((tree) =>
        Object.entries(tree).flatMap(([path, content]) => (content === null ? [] : [{ path, content }])),
      ),
      branch,
    );
  push(files);
  const mirrors = createMirrors({
    dir: join(home, 'mirrors'),
    serverUrl: `file://${join(home, 'origin')}`,
    readToken: async () => '',
    allowFile: true,
  });
  const mirror = await mirrors.open({ installationId: 1, id: 1, owner: 'acme', name: 'widgets' });
  const head = (await mirror.fetchBranch(branch, never)) ?? '';

  const commit = async (changes: Files, base = head): Promise<string> => {
    const list = Object.entries(changes).map(
      ([path, content]): TreeChange => ({
        path,
        file: content === null ? null : { mode: '100644', content: Buffer.from(content) },
      }),
    );
    return await mirror.commitTree(await mirror.writeTree(base, list), [base], 'made by a test');
  };
  const patch = async (row: number, changes: Files, baseCommit = head): Promise<MadePatch> => {
    const made = await commit(changes, baseCommit);
    return {
      subtaskId: `subtask-${row}`,
      row,
      title: `part ${row}`,
      baseCommit,
      tree: await mirror.treeOf(made),
      entries: await mirror.compareTrees(baseCommit, made),
      commit: made,
    };
  };
  const read = async (from: string, path: string) =>
    (await mirror.readFile(from, path, 1_000_000))?.toString('utf8') ?? null;
  return {
    home,
    origin,
    mirror,
    /** Head of the branch at the beginning. */
    head,
    commit,
    patch,
    read,
    /** The branch gets a new history: each commit with exactly these files. */
    push,
    end: () => removeTree(home),
  };
}

/** The same with a verifier over real containers and a real database. */
export async function createMergingSetting(files: Files) {
  const git = await createGitSetting(files);
  const docker = createSetting();
  const database = await openTestDatabase();
  const verifications = createVerifications(database.db);
  let acquired = 0;
  const hooks: {
    before: (() => void) | null;
    ready: ((sandbox: Sandbox, nth: number) => Promise<void>) | null;
  } = { before: null, ready: null };
  const sandboxes: Pick<Sandboxes, 'acquire'> = {
    async acquire(request, signal) {
      hooks.before?.();
      acquired += 1;
      const nth = acquired;
      const sandbox = await docker.sandboxes.acquire(request, signal);
      await hooks.ready?.(sandbox, nth);
      return sandbox;
    },
  };
  /** `imageId`: as if the image had been rebuilt. */
  const createAnother = (imageId?: string) =>
    createVerifier({
      verifications,
      sandboxes,
      kinds: kindsBelow(git.home, {
        ...docker.sandboxes,
        ...(imageId === undefined ? {} : { imageId: async () => imageId }),
      }).kinds,
      treeOf: (_dir, commit) => git.mirror.treeOf(commit),
      once: createSharedWork(),
      progressMs: 50,
    });
  const context = (change: Partial<VerificationContext> = {}): VerificationContext => ({
    taskId: 'task',
    attemptId: 'attempt',
    repository: { id: 1, mirrorDir: git.mirror.dir },
    kind: { config: repositoryConfigSchema.parse({}), trusted: git.head },
    commands: [nodeTests],
    commandMs: 120_000,
    signal: never,
    onProgress: () => {},
    ...change,
  });
  return {
    ...git,
    hooks,
    verifications,
    verifier: createAnother(),
    /** A verifier of another worker on the same store. */
    createAnother,
    context,
    containers: docker.containers,
    /** Sandboxes started since this was last asked. */
    started(): number {
      const count = acquired;
      acquired = 0;
      return count;
    },
    async end() {
      await docker.end();
      await database.close();
      await git.end();
      await rm(git.home, { recursive: true, force: true });
    },
  };
}

export type GitSetting = Awaited<ReturnType<typeof createGitSetting>>;
export type MergingSetting = Awaited<ReturnType<typeof createMergingSetting>>;
