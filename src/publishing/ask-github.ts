import { PatchfleetError } from '../domain/failure.ts';
import { asGitHubFailure, classifyError } from '../domain/github-problem.ts';
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
    const problem = classifyError(error);
    if (problem?.kind !== 'refused') throw asGitHubFailure(error, what);
    const { status, message } = problem;
    return { refused: { status, detail: `${what}: ${message} (${status})` } };
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
