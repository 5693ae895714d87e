import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GitHubDouble } from './create-github-double.ts';
import { readBody } from './server.ts';

export interface FaultRequest {
  /** Hold or drop the k-th write from now; 0 disarms. */
  readonly afterWrite?: number;
  readonly action?: 'hold' | 'drop';
  readonly fail?: {
    readonly route: string;
    readonly status: number;
    readonly times?: number;
    readonly applied?: boolean;
  };
  readonly limitWrites?: { readonly n: number; readonly status?: 403 | 429; readonly retryAfter?: number };
}

/**
 * What another process may do besides the {@link Controls}. `POST /_control/<name>` with a JSON array of
 * arguments (or one object as the only one); the answer is `{result}` or, with status 400, `{error}`.
 */
export function remoteControls(double: GitHubDouble) {
  const { faults } = double;
  return {
    async info() {
      const { url, apiUrl, serverUrl, dir, app } = double;
      const { id, slug, clientId, privateKey, webhookSecret } = app;
      return { url, apiUrl, serverUrl, dir, app: { id, slug, clientId, privateKey, webhookSecret } };
    },
    async faults(request: FaultRequest) {
      if (request.afterWrite === 0) faults.disarm();
      else if (request.afterWrite) faults.arm(request.afterWrite, request.action ?? 'hold');
      const { fail, limitWrites } = request;
      if (fail) faults.failNext(fail.route, fail.status, fail);
      if (limitWrites) faults.limitWrites(limitWrites.n, limitWrites);
    },
    /** Waits until a write is held and answers it; null after `timeoutMs`. */
    async held({ timeoutMs = 30_000 }: { timeoutMs?: number } = {}) {
      return faults.held(timeoutMs);
    },
    async release(how: 'answer' | 'drop' = 'drop') {
      faults.release(how);
    },
    async requests() {
      return double.journal;
    },
    async appliedWrites() {
      return double.writes();
    },
    /** Both lists are empty where all went by the book. */
    async problems() {
      return { unexpected: double.unexpected, violations: double.violations };
    },
    async settle() {
      await double.settled();
    },
  };
}

export type RemoteControls = ReturnType<typeof remoteControls>;

const local = ['close', 'settled', 'writes'];

/** Serves `/_control/*`. It has no credential: the double listens on loopback and holds nothing real. */
export async function serveControl(
  double: GitHubDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const name = new URL(request.url ?? '/', double.url).pathname.slice('/_control/'.length);
  const raw = (await readBody(request)).toString('utf8');
  const answer = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const actions = { ...double, ...remoteControls(double) } as unknown as Record<string, unknown>;
  const action = Object.hasOwn(actions, name) && !local.includes(name) ? actions[name] : undefined;
  if (typeof action !== 'function') return answer(404, { error: `no control ${name}` });
  try {
    const given: unknown = raw === '' ? [] : JSON.parse(raw);
    const result: unknown = await action(...(Array.isArray(given) ? given : [given]));
    answer(200, { result: result ?? null });
  } catch (error) {
    answer(400, { error: String(error) });
  }
}
