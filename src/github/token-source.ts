import { asGitHubFailure } from '../domain/github-problem.ts';
import type { RepositoryRef } from '../domain/task.ts';

/** Installation tokens, minted when needed. They live an hour; tasks live longer. */
export interface TokenSource {
  /** A token with all the permissions of the installation, over all its repositories. */
  forInstallation(installationId: number): Promise<string>;
  /** A token that can only read the contents of this one repository. */
  forReading(repository: RepositoryRef): Promise<string>;
  /** GitHub refused this token: the next one is minted anew. */
  forget(token: string): void;
}

export interface TokenRequest {
  readonly installation_id: number;
  readonly repository_ids?: number[];
  readonly permissions?: { contents: 'read'; metadata: 'read' };
}

/** A token is given out until this long before it ends, so that it outlives what it is used for. */
const marginMs = 5 * 60_000;

/**
 * `mint` asks GitHub; failures are never remembered. Simultaneous requests for one token share a call.
 * `now`: milliseconds since the epoch.
 */
export function createTokenSource(
  mint: (request: TokenRequest) => Promise<{ token: string; expires_at: string }>,
  now: () => number = Date.now,
): TokenSource {
  const known = new Map<string, { token: string; until: number }>();
  const pending = new Map<string, Promise<string>>();

  function get(key: string, request: TokenRequest): Promise<string> {
    const entry = known.get(key);
    if (entry !== undefined && entry.until > now()) return Promise.resolve(entry.token);
    const running = pending.get(key);
    if (running !== undefined) return running;
    const started = mintAndKeep(key, request).finally(() => pending.delete(key));
    pending.set(key, started);
    return started;
  }

  async function mintAndKeep(key: string, request: TokenRequest): Promise<string> {
    try {
      const { token, expires_at } = await mint(request);
      dropExpired();
      known.set(key, { token, until: Date.parse(expires_at) - marginMs });
      return token;
    } catch (error) {
      throw asGitHubFailure(error, `no token for installation ${request.installation_id}`);
    }
  }

  function dropExpired(): void {
    for (const [key, entry] of known) if (entry.until <= now()) known.delete(key);
  }

  return {
    forInstallation: (installationId) => get(`all ${installationId}`, { installation_id: installationId }),
    forReading: ({ installationId, id }) =>
      get(`read ${installationId} ${id}`, {
        installation_id: installationId,
        repository_ids: [id],
        permissions: { contents: 'read', metadata: 'read' },
      }),
    forget: (token) => {
      for (const [key, entry] of known) if (entry.token === token) known.delete(key);
    },
  };
}
