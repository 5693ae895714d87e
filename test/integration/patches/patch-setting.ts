import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMirrors } from '../../../src/github/mirror.ts';
import type { Mirror, TreeChange } from '../../../src/github/port.ts';
import { createSnapshots } from '../../../src/sandbox/bases/snapshots.ts';
import type { HarvestEntry } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { createCopiedWorkspaces } from '../../../src/sandbox/workspaces/copied-workspaces.ts';
import type { Workspace } from '../../../src/sandbox/workspaces/workspaces.ts';
import { type TreeFile, writeHistory } from '../mirror/build-repository.ts';

export const never = new AbortController().signal;

const repository = { installationId: 1, id: 7, owner: 'octo', name: 'shop' };
const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

export interface PatchSetting {
  readonly home: string;
  readonly mirror: Mirror;
  /** Commits, each the child of the one before. */
  commits(...trees: (readonly TreeFile[])[]): string[];
  snapshot(commit: string): Promise<string>;
  workspace(snapshot: string): Promise<string>;
  end(): Promise<void>;
}

export async function createPatchSetting(): Promise<PatchSetting> {
  const home = mkdtempSync(join(tmpdir(), 'patchfleet-patches-'));
  const mirrors = createMirrors({
    dir: join(home, 'mirrors'),
    serverUrl: 'file:///nowhere',
    readToken: async () => '',
    allowFile: true,
  });
  const mirror = await mirrors.open(repository);
  const snapshots = createSnapshots({ dir: join(home, 'snapshots') });
  const workspaces = createCopiedWorkspaces({ root: join(home, 'workspaces'), worker: 'tester', user });
  let made = 0;
  return {
    home,
    mirror,
    commits: (...trees) => {
      made += 1;
      return writeHistory(mirror.dir, trees, `made-${made}`);
    },
    snapshot: (commit) => snapshots.ensure({ id: repository.id, mirrorDir: mirror.dir }, commit, never),
    workspace: async (snapshot) => mountedAt(await workspaces.create({ snapshot }, never)),
    end: () => removeTree(home),
  };
}

/** The directory that a container would be given. */
export function mountedAt({ mount }: Workspace): string {
  if (mount.kind !== 'bind') throw new Error('only the engine mounts it');
  return mount.dir;
}

export async function toChanges(harvest: readonly HarvestEntry[]): Promise<TreeChange[]> {
  const changes: TreeChange[] = [];
  for (const entry of harvest) {
    if (entry.kind === 'refused') throw new Error(`refused: ${JSON.stringify(entry)}`);
    if (entry.kind === 'deleted') changes.push({ path: entry.path, file: null });
    else {
      const mode = entry.executable ? '100755' : '100644';
      changes.push({ path: entry.path, file: { mode, content: await entry.read() } });
    }
  }
  return changes;
}

const env = {
  PATH: process.env['PATH'] ?? '',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/** Git with a work tree, all filters off: what the product never does, as the judge of what it does. */
function judge(mirrorDir: string, home: string) {
  const dir = mkdtempSync(join(home, 'judge-'));
  const gitDir = join(dir, 'git');
  execFileSync('git', ['init', '-q', '--bare', gitDir], { env });
  mkdirSync(join(gitDir, 'info'), { recursive: true });
  writeFileSync(join(gitDir, 'info/attributes'), '* -text !eol -ident -filter -working-tree-encoding\n');
  writeFileSync(join(gitDir, 'objects/info/alternates'), `${join(mirrorDir, 'objects')}\n`);
  const git = (workTree: string, args: readonly string[], input?: Buffer) =>
    execFileSync('git', [`--git-dir=${gitDir}`, `--work-tree=${workTree}`, ...args], {
      cwd: workTree,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(input === undefined ? {} : { input }),
    })
      .toString('latin1')
      .trim();
  return { dir, git };
}

/** The tree git itself makes of a directory. */
export function treeByGit(mirrorDir: string, home: string, workTree: string): string {
  const { dir, git } = judge(mirrorDir, home);
  git(workTree, ['add', '--all', '--force', '.']);
  const tree = git(workTree, ['write-tree']);
  rmSync(dir, { recursive: true, force: true });
  return tree;
}

/** The tree that `git apply` makes of a clean checkout. */
export function treeByApply(mirrorDir: string, home: string, base: string, patch: Buffer): string {
  const { dir, git } = judge(mirrorDir, home);
  const workTree = join(dir, 'tree');
  mkdirSync(workTree);
  git(workTree, ['read-tree', base]);
  git(workTree, ['checkout-index', '--all', '--force', '--index']);
  if (patch.length > 0) git(workTree, ['apply', '--index', '--whitespace=nowarn'], patch);
  const staged = git(workTree, ['write-tree']);
  git(workTree, ['add', '--all', '--force', '.']);
  const onDisk = git(workTree, ['write-tree']);
  rmSync(dir, { recursive: true, force: true });
  return staged === onDisk ? staged : `index ${staged}, disk ${onDisk}`;
}
