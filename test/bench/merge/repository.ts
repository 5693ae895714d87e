import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileMode, PatchEntry } from '../../../src/domain/patch.ts';
import { createMirrors } from '../../../src/github/mirror.ts';
import type { Mirror } from '../../../src/github/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { initBare, writeHistory } from '../../integration/mirror/build-repository.ts';

/** A patch as an attempt stores it: rows of the database, its objects in the mirror, its text as an artifact. */
export interface StoredPatch {
  readonly baseCommit: string;
  readonly tree: string;
  readonly commit: string;
  readonly entries: PatchEntry[];
  readonly text: Buffer;
}

export interface BenchRepository {
  readonly home: string;
  /** The bare repository that is fetched from. */
  readonly origin: string;
  readonly mirror: Mirror;
  /** The commit that patches are made on; the branch has one more, which changes a file of its own. */
  readonly base: string;
  readonly head: string;
  /** One for each change of a file, all on the base. */
  patches(changes: readonly (readonly [path: string, content: string])[]): Promise<StoredPatch[]>;
  end(): Promise<void>;
}

export const pathOf = (at: number) =>
  `src/${String(Math.floor(at / 1000)).padStart(2, '0')}/${String(Math.floor(at / 50) % 20).padStart(2, '0')}/${String(at).padStart(5, '0')}.js`;
export const contentOf = (at: number) =>
  Array.from({ length: 12 }, (_, line) => `export const part${at}_${line} = ${at * line};\n`).join('');

/** A repository of that many files of some 400 bytes, 50 to a directory, on a file server; and its mirror. */
export async function makeRepository(files: number, signal: AbortSignal): Promise<BenchRepository> {
  const home = mkdtempSync(join(tmpdir(), 'patchfleet-bench-merge-'));
  const origin = join(home, 'origin/acme/widgets.git');
  initBare(origin);
  const all = Array.from({ length: files }, (_, at) => ({ path: pathOf(at), content: contentOf(at) }));
  const last = { path: pathOf(files - 1), content: 'export const meanwhile = true;\n' };
  const [base = '', head = ''] = writeHistory(origin, [all, [...all.slice(0, -1), last]]);
  const mirrors = createMirrors({
    dir: join(home, 'mirrors'),
    serverUrl: `file://${join(home, 'origin')}`,
    readToken: async () => '',
    allowFile: true,
  });
  const mirror = await mirrors.open({ installationId: 1, id: 1, owner: 'acme', name: 'widgets' });
  await mirror.fetchBranch('main', signal);
  return {
    ...{ home, origin, mirror, base, head },
    patches: async (changes) => {
      const commits = importCommits(mirror.dir, base, changes);
      const trees = await mirror.treesOf([base, ...commits]);
      const treeOf = (commit: string) => trees.get(commit) ?? '';
      const pairs = commits.map((commit) => [treeOf(base), treeOf(commit)] as const);
      const differences = await mirror.differences(pairs);
      const patches: StoredPatch[] = [];
      for (const [at, commit] of commits.entries()) {
        signal.throwIfAborted();
        const entries = (differences[at] ?? []).map(({ path, before, now }) => ({
          path,
          before,
          file:
            now === null
              ? null
              : { mode: now.mode as FileMode, blob: now.blob, bytes: changes[at]?.[1].length ?? 0 },
        }));
        const text = await mirror.patchText(base, commit, 1_000_000);
        patches.push({ baseCommit: base, tree: treeOf(commit), commit, entries, text });
      }
      return patches;
    },
    end: () => removeTree(home),
  };
}

/** Loose objects, as attempts leave them. */
function importCommits(
  gitDir: string,
  base: string,
  changes: readonly (readonly [path: string, content: string])[],
): string[] {
  const commits = changes.map(
    ([path, content], at) =>
      `commit refs/patchfleet/bench/${at}\nmark :${at + 1}\ncommitter T <t@example.invalid> 1700000000 +0000\n` +
      `data 5\npatch\nfrom ${base}\nM 100644 inline ${path}\ndata ${content.length}\n${content}\n`,
  );
  const marks = changes.map((_, at) => `get-mark :${at + 1}\n`);
  const args = [
    `--git-dir=${gitDir}`,
    '-c',
    'fastimport.unpackLimit=1000000',
    'fast-import',
    '--quiet',
    '--force',
  ];
  const answer = execFileSync('git', args, { input: [...commits, ...marks].join('') });
  return answer.toString('latin1').trim().split('\n');
}
