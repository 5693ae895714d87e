import { applyPatch } from './apply-patch.ts';
import { createHeldCommits } from './held-commits.ts';
import { createMemory } from './memory.ts';
import { fetchBranch, fetchCommit, fetchPullHead } from './mirror-branch.ts';
import { readChanges } from './mirror-changes.ts';
import { ensureMirrorDir } from './mirror-dir.ts';
import { type FetchSource, fetchCommits, requireSha } from './mirror-fetch.ts';
import { blobSizes, filesOf, listTree, readBlob } from './mirror-objects.ts';
import { createMirrorWriter } from './mirror-writer.ts';
import type { GitHub, Mirror, Mirrors, MirrorWriter } from './port.ts';
import { runGit } from './run-git.ts';
import { createTurns } from './turns.ts';

const never = new AbortController().signal;

export interface MirrorsOptions {
  /** Directory of all mirrors; made if missing. */
  readonly dir: string;
  /** Where repositories are cloned from: `https://github.com`, or a GitHub Enterprise Server. */
  readonly serverUrl: string;
  readonly readToken: GitHub['readToken'];
  /** Wall-clock limit of one fetch, milliseconds. */
  readonly fetchTimeoutMs?: number;
  /** Lets `serverUrl` be a `file:` URL: tests only. */
  readonly allowFile?: boolean;
}

/** Bare repositories on the host, one per repository id, shared by all processes on the directory. */
export function createMirrors(options: MirrorsOptions): Mirrors {
  const serverUrl = options.serverUrl.replace(/\/+$/, '');
  const held = createHeldCommits();
  // By commit alone: it says what is in it, in whichever mirror.
  const trees = createMemory<string>(10_000);
  const files = createMemory<Awaited<ReturnType<Mirror['filesOf']>>>(8);
  // Apart, so that a mirror is opened at once while a long fetch into it is under way.
  const making = createTurns();
  const fetching = createTurns();
  return {
    open: async (repository) => {
      const gitDir = await making(repository.id, never, () => ensureMirrorDir(options.dir, repository.id));
      const source: FetchSource = {
        gitDir,
        url: `${serverUrl}/${repository.owner}/${repository.name}.git`,
        serverUrl: `${serverUrl}/`,
        token: (fresh) => options.readToken(repository, fresh),
        timeoutMs: options.fetchTimeoutMs ?? 600_000,
        allowFile: options.allowFile === true,
      };
      const inTurn = <T>(signal: AbortSignal, work: () => Promise<T>) =>
        fetching(repository.id, signal, work);
      const writer = createMirrorWriter(gitDir);
      return {
        ...reader(gitDir),
        fetchPullRequest: (number, headSha, baseSha, signal) =>
          held.require(gitDir, [headSha, baseSha], () =>
            inTurn(signal, () => fetchCommits(source, number, [headSha, baseSha], signal)),
          ),
        ...writer,
        treeOf: (commit) => trees(commit, () => writer.treeOf(commit)),
        filesOf: (commit) => files(commit, () => filesOf(gitDir, commit)),
        fetchBranch: (branch, signal) => inTurn(signal, () => fetchBranch(source, branch, signal)),
        fetchPullHead: (number, signal) => inTurn(signal, () => fetchPullHead(source, number, signal)),
        fetchCommit: (commit, branch, signal) =>
          held.require(gitDir, [commit], () =>
            inTurn(signal, () => fetchCommit(source, commit, branch, signal)),
          ),
        applyPatch: (base, patch) => applyPatch(gitDir, base, patch),
      };
    },
  };
}

function reader(gitDir: string): Omit<Mirror, 'fetchPullRequest' | 'filesOf' | keyof MirrorWriter> {
  return {
    dir: gitDir,
    has: async (commit) => {
      const args = ['cat-file', '-e', `${requireSha(commit)}^{commit}`];
      return (await runGit(args, { gitDir, okCodes: [0, 1, 128] })).exitCode === 0;
    },
    mergeBase: async (a, b) => {
      const args = ['merge-base', requireSha(a), requireSha(b)];
      const { exitCode, stdout } = await runGit(args, { gitDir, okCodes: [0, 1] });
      return exitCode === 0 ? stdout.toString('latin1').trim() : null;
    },
    diff: async (args, maxBytes) => {
      const safe = ['diff', '--no-ext-diff', '--no-textconv', '--no-color'];
      return (await runGit([...safe, ...args], { gitDir, maxBytes, tooLarge: 'diff_too_large' })).stdout;
    },
    readFile: (commit, path, maxBytes) => readBlob(gitDir, commit, path, maxBytes),
    changes: (base, head, limits) => readChanges(gitDir, base, head, limits),
    listTree: (commit) => listTree(gitDir, commit),
    blobSizes: (blobs) => blobSizes(gitDir, blobs),
  };
}
