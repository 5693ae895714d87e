import { isUtf8 } from 'node:buffer';
import { PatchfleetError } from '../domain/failure.ts';
import { ownAuthor } from '../domain/own-commit.ts';
import { displayPath } from '../domain/parse-patch.ts';
import { parseRaw, type RawEntry } from '../domain/parse-raw.ts';
import type { FileMode, PatchEntry } from '../domain/patch.ts';
import { differences, treesOf } from './mirror-batch.ts';
import { requireSha } from './mirror-fetch.ts';
import { blobSizes, splitNul } from './mirror-objects.ts';
import { writeTree } from './mirror-writer-tree.ts';
import type { MergeResult, MirrorWriter } from './port.ts';
import { GitError, runGit } from './run-git.ts';

/** Bytes of a raw comparison: some 200,000 changed files. */
const maxRawBytes = 32 * 1024 * 1024;

/**
 * The writing side of the bare repository `gitDir`, by plumbing alone. No ref holds what is written: nothing
 * here or in fetching ever starts a garbage collection, and one run by hand spares objects of the last two weeks.
 */
export function createMirrorWriter(
  gitDir: string,
): Omit<MirrorWriter, 'fetchBranch' | 'fetchPullHead' | 'fetchCommit' | 'applyPatch'> {
  const line = async (args: readonly string[]) =>
    (await runGit(args, { gitDir })).stdout.toString('latin1').trim();
  return {
    writeTree: (base, changes, signal) => writeTree(gitDir, base, changes, signal),
    commitTree: async (tree, parents, message) => {
      const args = ['commit-tree', requireSha(tree), ...parents.flatMap((sha) => ['-p', requireSha(sha)])];
      const { stdout } = await runGit([...args, '-F', '-'], { gitDir, input: message, env: ownAuthor });
      return requireSha(stdout.toString('latin1').trim());
    },
    mergeTrees: (ours, theirs) => mergeTrees(gitDir, ours, theirs),
    treeOf: (commit) => line(['rev-parse', '--verify', `${requireSha(commit)}^{tree}`]),
    treesOf: (commits) => treesOf(gitDir, commits),
    differences: (pairs) => differences(gitDir, pairs),
    compareTrees: (from, to) => compareTrees(gitDir, from, to),
    patchText: async (from, to, maxBytes) => {
      const range = [requireSha(from), requireSha(to)];
      return (await runGit([...patchArgs, ...range, '--'], { gitDir, maxBytes, tooLarge: 'diff_too_large' }))
        .stdout;
    },
    readBlob: async (blob, maxBytes) => {
      const limit = { maxBytes: Math.max(1, maxBytes), tooLarge: 'diff_too_large' } as const;
      return (await runGit(['cat-file', 'blob', requireSha(blob)], { gitDir, ...limit })).stdout;
    },
    isAncestor: async (ancestor, descendant) => {
      const args = ['merge-base', '--is-ancestor', requireSha(ancestor), requireSha(descendant)];
      return (await runGit(args, { gitDir, okCodes: [0, 1] })).exitCode === 0;
    },
  };
}

/** A patch that `git apply` takes, whatever version or settings made it. */
const patchArgs = [
  ...['diff', '--binary', '--full-index', '--find-renames=50%', '--diff-algorithm=myers', '--unified=3'],
  ...['--inter-hunk-context=0', '--submodule=short', '--no-relative', '--no-color', '--no-ext-diff'],
  ...['--no-textconv', '--src-prefix=a/', '--dst-prefix=b/', '--ignore-submodules=none'],
];

async function mergeTrees(gitDir: string, ours: string, theirs: string): Promise<MergeResult> {
  const options = ['--write-tree', '-z', '--name-only', '--no-messages'];
  try {
    const { exitCode, stdout } = await runGit(
      ['merge-tree', ...options, requireSha(ours), requireSha(theirs)],
      { gitDir, okCodes: [0, 1], maxBytes: maxRawBytes },
    );
    const [tree = '', ...names] = splitNul(stdout);
    // A commit that cannot be found ends with 1 as well, but without a tree.
    if (tree.length === 0) throw new GitError('git_failed', 'git merge-tree gave no tree', '');
    if (exitCode === 0) return { clean: true, tree: requireSha(tree.toString('latin1')) };
    const conflicts = names.filter((name) => name.length > 0).sort(Buffer.compare);
    return { clean: false, conflicts: [...new Set(conflicts.map(displayPath))] };
  } catch (error) {
    // Without a common ancestor nothing says what either side changed: no file in particular is at fault.
    if (error instanceof GitError && /unrelated histories/.test(error.stderr)) {
      return { clean: false, conflicts: [] };
    }
    throw error;
  }
}

async function compareTrees(gitDir: string, from: string, to: string): Promise<PatchEntry[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none'];
  const { stdout } = await runGit([...args, requireSha(from), requireSha(to)], {
    gitDir,
    maxBytes: maxRawBytes,
    tooLarge: 'diff_too_large',
  });
  const { entries } = parseRaw(stdout);
  const modes = new Map(entries.map((entry) => [entry, plainMode(entry)]));
  const sizes = await blobSizes(
    gitDir,
    entries.filter((entry) => modes.get(entry) !== null).map(({ newBlob }) => newBlob),
  );
  return entries
    .toSorted((a, b) => Buffer.compare(a.path, b.path))
    .map((entry) => {
      const mode = modes.get(entry) ?? null;
      return {
        path: entry.path.toString('utf8'),
        file: mode === null ? null : { mode, blob: entry.newBlob, bytes: sizes.get(entry.newBlob) ?? 0 },
        before: entry.oldMode === '000000' ? null : { mode: entry.oldMode, blob: entry.oldBlob },
      };
    });
}

/** Mode of what stands there now; null: nothing. What a patch cannot hold fails with `patch_refused`. */
function plainMode({ newMode, path }: RawEntry): FileMode | null {
  if (!isUtf8(path)) throw new PatchfleetError('patch_refused', `${displayPath(path)}: not a UTF-8 name`);
  if (newMode === '000000') return null;
  if (newMode === '100644' || newMode === '100755') return newMode;
  const kind = newMode === '120000' ? 'a symlink' : newMode === '160000' ? 'a submodule' : `mode ${newMode}`;
  throw new PatchfleetError('patch_refused', `${displayPath(path)}: is ${kind}`);
}
