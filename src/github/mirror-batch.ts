import { PatchfleetError } from '../domain/failure.ts';
import { parseRaw } from '../domain/parse-raw.ts';
import { requireSha } from './mirror-fetch.ts';
import type { TreeDifference, TreeFile } from './port.ts';
import { runGit } from './run-git.ts';

/** Bytes of all raw comparisons asked for at once: some 200,000 changed files. */
const maxRawBytes = 32 * 1024 * 1024;

/** See `MirrorWriter.treesOf`. */
export async function treesOf(gitDir: string, commits: readonly string[]): Promise<Map<string, string>> {
  const asked = [...new Set(commits)];
  if (asked.length === 0) return new Map();
  const { stdout } = await runGit(['cat-file', '--batch-check=%(objectname)'], {
    gitDir,
    input: `${asked.map((commit) => `${requireSha(commit)}^{tree}`).join('\n')}\n`,
  });
  const lines = stdout.toString('latin1').trimEnd().split('\n');
  if (lines.length !== asked.length) {
    throw new PatchfleetError('git_failed', `git cat-file gave ${lines.length} lines for ${asked.length}`);
  }
  return new Map(
    asked.flatMap((commit, at) => {
      const line = lines[at] ?? '';
      return /^[0-9a-f]+$/.test(line) ? [[commit, line] as const] : [];
    }),
  );
}

/** See `MirrorWriter.differences`. */
export async function differences(
  gitDir: string,
  pairs: readonly (readonly [from: string, to: string])[],
): Promise<TreeDifference[][]> {
  if (pairs.length === 0) return [];
  const args = ['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-abbrev', '--no-renames'];
  const { stdout } = await runGit([...args, '--ignore-submodules=none'], {
    gitDir,
    input: `${pairs.map(([from, to]) => `${requireSha(from)} ${requireSha(to)}`).join('\n')}\n`,
    maxBytes: maxRawBytes,
    tooLarge: 'diff_too_large',
  });
  let rest = stdout;
  return pairs.map(([from, to]) => {
    // Each pair is said once more before its records.
    const head = `${from} ${to}\n`;
    if (rest.toString('latin1', 0, head.length) !== head) {
      throw new PatchfleetError('git_failed', `git diff-tree did not compare ${from} with ${to}`);
    }
    rest = rest.subarray(head.length);
    const { entries, end } = parseRaw(rest);
    rest = rest.subarray(end);
    return entries.map(({ path, oldMode, oldBlob, newMode, newBlob }) => ({
      path: path.toString('latin1'),
      before: file(oldMode, oldBlob),
      now: file(newMode, newBlob),
    }));
  });
}

function file(mode: string, blob: string): TreeFile | null {
  return mode === '000000' ? null : { mode, blob };
}
