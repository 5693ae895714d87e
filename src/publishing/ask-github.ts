import { PatchfleetError } from '../domain/failure.ts';
import type { GitHub, InstallationClient } from '../github/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';

export interface PublishingDeps {
  readonly store: Pick<Store, 'publications' | 'views' | 'tasks' | 'withLock'>;
  readonly github: GitHub;
  readonly queue: Queue;
  readonly log: Logger;
}

/** A final no: the object is gone, locked, or the request is one GitHub does not take. */
export interface Refusal {
  /** HTTP status; null when no token could be had at all. */
  readonly status: number | null;
  readonly detail: string;
}

export type Answer<T> = { readonly refused: null; readonly data: T } | { readonly refused: Refusal };

/**
 * Sends a request and tells a final no from what another try may mend. The latter is thrown as
 * `github_unavailable`: after it nobody knows whether a write was applied.
 */
export async function ask<T>(
  what: string,
  signal: AbortSignal | undefined,
  request: () => Promise<{ data: T }>,
): Promise<Answer<T>> {
  try {
    return { refused: null, data: (await request()).data };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PatchfleetError) {
      if (error.code === 'github_refused') return { refused: { status: null, detail: error.detail } };
      throw error;
    }
    const status = statusOf(error);
    if (status === undefined || !(error instanceof Error)) throw error;
    if (status !== null && isFinal(status, error)) {
      return { refused: { status, detail: `${what}: ${error.message} (${status})` } };
    }
    const answer = status === null ? 'no answer' : `status ${status}`;
    throw new PatchfleetError('github_unavailable', `${what}: ${error.message} (${answer})`, {
      cause: error,
    });
  }
}

/** Every item of all pages. */
export function askAll<T>(
  client: InstallationClient,
  what: string,
  signal: AbortSignal | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: octokit's own constraint of a paginated route
  route: any,
  parameters: Record<string, unknown>,
): Promise<Answer<T[]>> {
  const request = signal === undefined ? {} : { request: { signal } };
  return ask(what, signal, async () => ({
    data: (await client.paginate(route, { per_page: 100, ...parameters, ...request })) as T[],
  }));
}

export function isGone(refusal: Refusal): boolean {
  return refusal.status === 404 || refusal.status === 410;
}

/** Undefined: not an error of a request. Null: no answer came (octokit says 500 then). */
function statusOf(error: unknown): number | null | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return 'response' in error && error.response !== undefined ? error.status : null;
}

/** 401 is not final: a token may have been revoked between two requests. */
function isFinal(status: number, error: Error): boolean {
  if (status >= 500 || status === 401 || status === 408 || status === 429) return false;
  return status !== 403 || !isRateLimit(error);
}

function isRateLimit(error: Error): boolean {
  const response = 'response' in error ? (error.response as { headers?: Record<string, unknown> }) : {};
  const headers = response.headers ?? {};
  return (
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /\b(rate limit|abuse detection)\b/i.test(error.message)
  );
}
