import { PatchfleetError } from './failure.ts';

/** What an error of a REST call means for whoever made it. */
export interface GitHubProblem {
  /** HTTP status; null when no answer came (time-out, connection lost): a write may have been applied. */
  readonly status: number | null;
  /**
   * `limited`: refused for its rate, surely not applied. `unavailable`: 5xx, no answer, or a 401, since tokens are
   * revoked between two requests and new ones take a moment to be known everywhere. `refused`: final.
   */
  readonly kind: 'limited' | 'unavailable' | 'refused';
  /** When GitHub says to come back, milliseconds from now; null where it does not say. */
  readonly retryAfterMs: number | null;
  readonly message: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Null for errors that are not of a REST call. `now`: milliseconds since the epoch. */
export function classifyError(error: unknown, now: number = Date.now()): GitHubProblem | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null;
  const answer = 'response' in error ? (error.response as Answer | undefined) : undefined;
  // Octokit says 500 for everything that never became an answer.
  if (answer === undefined)
    return { status: null, kind: 'unavailable', retryAfterMs: null, message: error.message };
  const { status } = answer;
  const retryAfterMs = readRetryAfter(answer.headers, now);
  const { message } = error;
  if (isRateLimit(status, answer.headers, message)) {
    return { status, kind: 'limited', retryAfterMs, message };
  }
  if (status >= 500 || status === 408 || status === 401)
    return { status, kind: 'unavailable', retryAfterMs, message };
  return { status, kind: 'refused', retryAfterMs: null, message };
}

function isRateLimit(status: number, headers: Answer['headers'], message: string): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /\b(rate limit|abuse detection)\b/i.test(message)
  );
}

function readRetryAfter(headers: Answer['headers'], now: number): number | null {
  const seconds = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  if (headers['x-ratelimit-remaining'] !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']);
  return Number.isFinite(reset) && reset > 0 ? Math.max(0, reset * 1000 - now) + 1000 : null;
}

/** Where GitHub limits without saying until when: at least a minute, by its documentation. */
const limitedPauseMs = 60_000;

/**
 * The error as one of ours: `github_unavailable` when another try may help, else `github_refused`. One that
 * GitHub says to come back after has that as `retryAfterMs`, as has any refusal for the rate.
 */
export function asGitHubFailure(error: unknown, what: string): unknown {
  const problem = classifyError(error);
  if (problem === null) return error;
  const code = problem.kind === 'refused' ? 'github_refused' : 'github_unavailable';
  const status = problem.status === null ? '' : ` (${problem.status})`;
  const failure = new PatchfleetError(code, `${what}: ${problem.message}${status}`, { cause: error });
  const retryAfterMs = problem.retryAfterMs ?? (problem.kind === 'limited' ? limitedPauseMs : null);
  return retryAfterMs === null ? failure : Object.assign(failure, { retryAfterMs });
}
