import { randomUUID } from 'node:crypto';
import { PatchfleetError } from '../domain/failure.ts';
import { GitError, type GitOptions, runGit } from './run-git.ts';

export interface FetchSource {
  readonly gitDir: string;
  /** HTTP(S) URL of the repository, without credentials. */
  readonly url: string;
  /** Server the credential is for: scheme, host and path prefix. */
  readonly serverUrl: string;
  /** `instead`: a token that GitHub no longer takes. */
  readonly token: (fresh?: { readonly instead: string }) => Promise<string>;
  readonly timeoutMs: number;
  readonly allowFile: boolean;
}

const shaPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Guards an argument list: what is not a full object id goes to no git command. */
export function requireSha(sha: string): string {
  if (!shaPattern.test(sha)) throw new PatchfleetError('internal', `not a commit id: ${JSON.stringify(sha)}`);
  return sha;
}

/**
 * Brings commits in, with all they reach. A commit counts as present when a ref of ours holds it: git
 * writes the ref only after it has checked that nothing is missing, while a bare object may be what a
 * killed fetch left behind. Every fetch writes refs of its own (`refs/patchfleet/commits/<sha>/<uuid>`), so
 * that processes fetching at once, or one that died holding a ref's lock, never get in each other's way.
 *
 * Fails with `commit_missing`, `github_refused`, `github_unavailable`, `git_failed` or `cancelled`.
 */
export async function fetchCommits(
  source: FetchSource,
  pullRequest: number,
  commits: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const missing = await absent(source, commits, signal);
  if (missing.length === 0) return;
  const byId = missing.map((sha) => `${sha}:${refOf(sha)}`);
  try {
    await fetchRefs(source, byId, signal);
    return;
  } catch (error) {
    if (!isNotOnServer(error)) throw classified(error);
  }
  // The server does not hand one of them out by id: the pull request's ref may still lead to it.
  const arrival = `refs/patchfleet/pulls/${pullRequest}/${randomUUID()}`;
  const wanted = [[`refs/pull/${pullRequest}/head:${arrival}`], ...byId.map((refspec) => [refspec])];
  for (const refspecs of wanted) {
    try {
      await fetchRefs(source, refspecs, signal);
    } catch (error) {
      if (!isNotOnServer(error)) throw classified(error);
    }
  }
  const gone = await unreachable(source, await absent(source, missing, signal), signal);
  if (gone.length > 0) throw new PatchfleetError('commit_missing', gone.join(', '));
}

const fetchArgs = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
];

export function refOf(sha: string): string {
  return `refs/patchfleet/commits/${sha}/${randomUUID()}`;
}

export async function absent(
  source: FetchSource,
  commits: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const unique = [...new Set(commits.map(requireSha))];
  const prefixes = unique.map((sha) => `refs/patchfleet/commits/${sha}/`);
  const { stdout } = await runGit(['for-each-ref', '--format=%(objectname)', ...prefixes], {
    gitDir: source.gitDir,
    signal,
  });
  const held = new Set(stdout.toString('latin1').split('\n'));
  return unique.filter((sha) => !held.has(sha));
}

/** Those that no ref of the mirror reaches; a ref is given to the others. */
async function unreachable(
  source: FetchSource,
  commits: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const gone: string[] = [];
  const git = (args: string[]) => runGit(args, { gitDir: source.gitDir, signal, okCodes: [0, 1, 128, 129] });
  for (const sha of commits) {
    const { exitCode, stdout } = await git(['for-each-ref', '--count=1', `--contains=${sha}`]);
    if (exitCode !== 0 || stdout.length === 0) gone.push(sha);
    else await runGit(['update-ref', refOf(sha), sha], { gitDir: source.gitDir, signal });
  }
  return gone;
}

/** One `git fetch`. A token that was revoked before its time is replaced once. */
export async function fetchRefs(
  source: FetchSource,
  refspecs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const fetch = async (token: string | null) => {
    await runGit([...fetchArgs, source.url, ...refspecs], fetchOptions(source, token, signal));
  };
  const token = source.url.startsWith('file:') ? null : await source.token();
  try {
    await fetch(token);
  } catch (error) {
    if (token === null || !isUnauthorised(error)) throw error;
    await fetch(await source.token({ instead: token }));
  }
}

function fetchOptions(source: FetchSource, token: string | null, signal: AbortSignal): GitOptions {
  const base = {
    gitDir: source.gitDir,
    signal,
    timeoutMs: source.timeoutMs,
    allowFile: source.allowFile,
  };
  if (token === null) return base;
  const credential = Buffer.from(`x-access-token:${token}`).toString('base64');
  return { ...base, httpHeader: { url: source.serverUrl, value: `Authorization: Basic ${credential}` } };
}

/** Without a valid credential git asks for one, and may not. */
function isUnauthorised(error: unknown): boolean {
  return (
    error instanceof GitError &&
    /authentication failed|terminal prompts disabled|error: 401/i.test(error.stderr)
  );
}

export function isNotOnServer(error: unknown): boolean {
  return (
    error instanceof GitError &&
    /not our ref|couldn't find remote ref|unadvertised object|no such remote ref/i.test(error.stderr)
  );
}

/**
 * Git tells HTTP failures in words alone (LC_ALL=C keeps them English). A token that is refused though it was just
 * made may not be known everywhere yet.
 */
export function classified(error: unknown): unknown {
  if (!(error instanceof GitError) || error.code !== 'git_failed') return error;
  const { stderr, detail } = error;
  if (
    isUnauthorised(error) ||
    /error: 5\d\d|error: 429|could not resolve host|failed to connect|connection (refused|reset)|couldn't connect|timed out/i.test(
      stderr,
    )
  ) {
    return new PatchfleetError('github_unavailable', detail, { cause: error });
  }
  if (/error: [34]\d\d|repository .*not found/i.test(stderr)) {
    return new PatchfleetError('github_refused', detail, { cause: error });
  }
  return error;
}
