import type { IncomingMessage, ServerResponse } from 'node:http';
import { identify, mayReach, permits } from './auth.ts';
import type { Faults } from './faults.ts';
import { describeCaller } from './git-http.ts';
import type { Journal, OpenEntry } from './journal.ts';
import type { Description } from './openapi.ts';
import { type Call, type Json, matchRoute, notFound, Refusal, type Reply, type Route } from './router.ts';
import { findRepository, type Repository, type State } from './state.ts';

export interface ApiParts {
  readonly state: State;
  readonly routes: readonly Route[];
  readonly description: Description;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly unexpected: string[];
  readonly violations: string[];
  /** Called after a write took effect, for the events GitHub sends about it. */
  readonly onApplied: (route: string, call: Call, repository: Repository, reply: Reply) => void;
}

const maxBodyBytes = 64 * 1024 * 1024;
/** Requests an hour of an installation. */
const rateLimit = 5_000;

/** Answers one REST request: identify, authorise, validate, handle, validate again, journal. */
export async function serveApi(
  parts: ApiParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { state, journal, faults } = parts;
  const method = request.method ?? 'GET';
  const target = (request.url ?? '/').replace(/^\/api\/v3(?=\/)/, '');
  const path = new URL(target, state.url).pathname;
  const raw = await readBody(request);
  const match = matchRoute(parts.routes, method, path);
  const route = match ? `${method} ${match.route.path}` : null;
  const write = method !== 'GET' && match?.route.as !== 'app';
  const { owner, repo } = match?.params ?? {};
  const caller = attempt(() => identify(state, request.headers.authorization));
  const parsed = attempt(() => parseBody(raw));
  const entry = journal.open({
    method,
    path: request.url ?? '/',
    route,
    repository: owner && repo ? `${owner}/${repo}` : null,
    body: parsed instanceof Refusal ? raw.toString('utf8') : raw.length > 0 ? parsed : null,
    caller: describeCaller(caller instanceof Refusal ? { kind: 'anonymous' } : caller),
    write,
  });
  let reply: Reply;
  let verdict: 'answer' | 'drop' = 'answer';
  try {
    if (!match || !route) {
      parts.unexpected.push(`${method} ${target}`);
      throw new Refusal(501, `The double has no route ${method} ${path}`);
    }
    if (caller instanceof Refusal) throw caller;
    if (parsed instanceof Refusal) throw parsed;
    await faults.pause();
    const late = faults.before(route, write);
    const query = Object.fromEntries(new URL(target, state.url).searchParams);
    const { params } = match;
    const call: Call = {
      state,
      method,
      target,
      params,
      query,
      body: parsed,
      headers: request.headers,
      caller,
    };
    const repository = authorise(state, match.route, call);
    const problem = parts.description.checkRequest(route, { params, query, body: parsed });
    if (problem) {
      parts.violations.push(`request ${route}: ${problem}`);
      throw new Refusal(422, `Invalid request.\n\n${problem}`);
    }
    reply = await handle(match.route, call, repository);
    const own =
      reply.body instanceof Uint8Array
        ? null
        : parts.description.checkResponse(route, reply.status, reply.body);
    if (own) {
      parts.violations.push(`response ${route} ${reply.status}: ${own}`);
      throw new Refusal(500, `The double answered against the description: ${own}`);
    }
    if (write && repository) {
      entry.applied = true;
      parts.onApplied(route, call, repository, reply);
      const onClose = () => faults.release('drop', entry);
      response.once('close', onClose);
      verdict = await faults.after(entry);
      response.off('close', onClose);
    }
    if (late) throw late;
  } catch (error) {
    if (!(error instanceof Refusal)) {
      parts.violations.push(`the double failed at ${route}: ${String(error)}`);
      reply = new Refusal(500, 'The double failed').reply;
    } else {
      reply = error.reply;
    }
    const problem = route && match ? parts.description.checkResponse(route, reply.status, reply.body) : null;
    if (problem) parts.violations.push(`response ${route} ${reply.status}: ${problem}`);
  }
  if (verdict === 'drop') {
    response.destroy();
    return;
  }
  send(parts, entry, response, reply);
}

/** The repository a call is about, if the caller may make that call; else GitHub's refusal. */
function authorise(state: State, route: Route, call: Call): Repository | null {
  const { caller, params } = call;
  if (route.as === 'anyone') return null;
  if (caller.kind === 'anonymous') throw new Refusal(401, 'Requires authentication');
  if (route.as === 'app') {
    if (caller.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded');
    return null;
  }
  if (caller.kind === 'app') throw notAccessible();
  const repository = findRepository(state, params['owner'] ?? '', params['repo'] ?? '');
  if (!repository || !mayReach(caller, repository)) throw notFound();
  if (!permits(caller, route.needs)) throw notAccessible();
  return repository;
}

function notAccessible(): Refusal {
  return new Refusal(403, 'Resource not accessible by integration');
}

function handle(route: Route, call: Call, repository: Repository | null): Reply | Promise<Reply> {
  if (route.as !== 'installation') return route.handle(call);
  if (!repository) throw notFound();
  return route.handle({ ...call, repository });
}

function send(parts: ApiParts, entry: OpenEntry, response: ServerResponse, reply: Reply): void {
  entry.status = reply.status;
  const binary = reply.body instanceof Uint8Array;
  const used = parts.journal.entries.length % rateLimit;
  response.writeHead(reply.status, {
    'content-type': binary ? 'application/octet-stream' : 'application/json; charset=utf-8',
    'x-github-media-type': 'github.v3; format=json',
    'x-github-request-id': `DOUBLE:${entry.sequence}`,
    'x-ratelimit-limit': String(rateLimit),
    'x-ratelimit-remaining': String(rateLimit - used),
    'x-ratelimit-used': String(used),
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3600),
    'x-ratelimit-resource': 'core',
    ...reply.headers,
  });
  if (reply.status === 204) response.end();
  else response.end(binary ? reply.body : JSON.stringify(reply.body));
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseBody(raw: Buffer): Json {
  if (raw.length === 0) return {};
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Json;
  } catch {
    // Told below, as for every other body that is no object.
  }
  throw new Refusal(400, 'Problems parsing JSON');
}

function attempt<T>(action: () => T): T | Refusal {
  try {
    return action();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

export function metaRoutes(): Route[] {
  const limit = () => ({
    limit: rateLimit,
    used: 0,
    remaining: rateLimit,
    reset: Math.ceil(Date.now() / 1000) + 3600,
  });
  return [
    {
      method: 'GET',
      path: '/rate_limit',
      as: 'anyone',
      handle: () => ({ status: 200, body: { resources: { core: limit(), search: limit() }, rate: limit() } }),
    },
    {
      method: 'GET',
      path: '/meta',
      as: 'anyone',
      handle: () => ({ status: 200, body: { verifiable_password_authentication: false } }),
    },
  ];
}
