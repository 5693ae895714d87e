import { randomUUID } from 'node:crypto';
import { PatchfleetError } from '../domain/failure.ts';
import {
  absent,
  classified,
  type FetchSource,
  fetchRefs,
  isNotOnServer,
  refOf,
  requireSha,
} from './mirror-fetch.ts';
import { runGit } from './run-git.ts';

/**
 * The head of a branch on GitHub now, with all it reaches; null when there is no such branch. It arrives in a
 * ref of its own (`refs/patchfleet/heads/<uuid>`), which is given up again: a ref named after the branch would be
 * locked by fetches at once, and stand in the way when `a` goes and `a/b` comes. What holds the commit is a ref
 * of the same kind as those of {@link fetchCommits}, made once per commit.
 *
 * Fails with `github_refused`, `github_unavailable`, `git_failed` or `cancelled`.
 */
export async function fetchBranch(
  source: FetchSource,
  branch: string,
  signal: AbortSignal,
): Promise<string | null> {
  const remote = `refs/heads/${branch}`;
  // What is no ref name exists nowhere, and would mean something else in a refspec.
  if (branch.includes('\0')) return null;
  const named = await runGit(['check-ref-format', remote], {
    gitDir: source.gitDir,
    signal,
    okCodes: [0, 1],
  });
  return named.exitCode === 0 ? fetchHead(source, remote, signal) : null;
}

/** As {@link fetchBranch}, of a pull request: the one head that can be had where it is in a fork. */
export function fetchPullHead(
  source: FetchSource,
  number: number,
  signal: AbortSignal,
): Promise<string | null> {
  return fetchHead(source, `refs/pull/${number}/head`, signal);
}

async function fetchHead(source: FetchSource, remote: string, signal: AbortSignal): Promise<string | null> {
  const local = { gitDir: source.gitDir, signal };
  const arrival = `refs/patchfleet/heads/${randomUUID()}`;
  try {
    await fetchRefs(source, [`+${remote}:${arrival}`], signal);
  } catch (error) {
    if (isNotOnServer(error)) return null;
    throw classified(error);
  }
  const { stdout } = await runGit(['rev-parse', '--verify', arrival], local);
  const sha = stdout.toString('latin1').trim();
  if ((await absent(source, [sha], signal)).length > 0) await runGit(['update-ref', refOf(sha), sha], local);
  await runGit(['update-ref', '-d', arrival], local);
  return sha;
}

/** Brings a commit in that is, or was, in the history of that branch. `commit_missing` where it is to be had no more. */
export async function fetchCommit(
  source: FetchSource,
  commit: string,
  branch: string,
  signal: AbortSignal,
): Promise<void> {
  if ((await absent(source, [commit], signal)).length === 0) return;
  const head = await fetchBranch(source, branch, signal);
  const args = ['cat-file', '-e', `${requireSha(commit)}^{commit}`];
  const { exitCode } = await runGit(args, { gitDir: source.gitDir, signal, okCodes: [0, 1, 128] });
  if (exitCode === 0) return;
  const detail =
    head === null
      ? `there is no branch ${branch} any more`
      : `${commit} is not in the history of ${branch} any more`;
  throw new PatchfleetError('commit_missing', detail);
}
