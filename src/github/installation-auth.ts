import type { TokenSource } from './token-source.ts';

interface RequestOptions {
  readonly url: string;
  headers: Record<string, string | number | undefined>;
}

/** The part of Octokit's request function that an authentication strategy uses. */
interface RequestFunction {
  (options: RequestOptions): Promise<unknown>;
  readonly endpoint: { merge(route: unknown, parameters?: unknown): RequestOptions };
}

export interface InstallationAuthOptions {
  readonly tokens: TokenSource;
  readonly installationId: number;
}

/**
 * Octokit authentication strategy: every request carries a current token of the installation. On a 401
 * (the token ended, or GitHub revoked it) one further try is made with a token minted anew; a 401 was surely
 * not applied, so that is safe for writes too.
 */
export function createInstallationAuth(options: InstallationAuthOptions) {
  const { tokens, installationId } = options;
  const authenticate = async () => ({
    type: 'token' as const,
    tokenType: 'installation' as const,
    token: await tokens.forInstallation(installationId),
  });

  async function hook(request: RequestFunction, route: unknown, parameters?: unknown): Promise<unknown> {
    const endpoint = request.endpoint.merge(route, parameters);
    const send = async (token: string) => {
      endpoint.headers = { ...endpoint.headers, authorization: `token ${token}` };
      return await request(endpoint);
    };
    const token = await tokens.forInstallation(installationId);
    try {
      return await send(token);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      tokens.forget(token);
      return await send(await tokens.forInstallation(installationId));
    }
  }

  return Object.assign(authenticate, { hook });
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 401;
}
