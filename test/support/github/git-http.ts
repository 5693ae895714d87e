import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import { type Caller, identify, mayReach, permits } from './auth.ts';
import { gitEnvironment } from './git.ts';
import type { Journal } from './journal.ts';
import { Refusal } from './router.ts';
import { findRepository, type State } from './state.ts';

const gitPath = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

export function isGitRequest(path: string): boolean {
  return gitPath.test(path) && !path.startsWith('/repos/');
}

/** Serves one smart-HTTP request with `git http-backend`, for tokens that may read the repository. */
export async function serveGit(
  state: State,
  journal: Journal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', state.url);
  const [, owner = '', name = '', action = ''] = (gitPath.exec(url.pathname) ?? []).map(decodeURIComponent);
  const service = action === 'info/refs' ? (url.searchParams.get('service') ?? 'dumb') : action;
  const repository = findRepository(state, owner, name);
  let caller: Caller = { kind: 'anonymous' };
  let refusal: Refusal | null = null;
  try {
    caller = identify(state, request.headers.authorization);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refusal = error;
  }
  const entry = journal.open({
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    route: service.replace(/^git-/, 'git '),
    repository: repository ? `${repository.owner.login}/${repository.name}` : null,
    body: null,
    caller: describeCaller(caller),
    write: service === 'git-receive-pack',
  });
  const end = (status: number, text: string, headers: Record<string, string> = {}) => {
    entry.status = status;
    request.resume();
    response.writeHead(status, { 'content-type': 'text/plain; charset=UTF-8', ...headers }).end(`${text}\n`);
  };
  if (refusal || caller.kind !== 'installation') {
    const realm = { 'www-authenticate': 'Basic realm="GitHub"' };
    return end(401, 'Invalid username or token.', realm);
  }
  if (!repository || !mayReach(caller, repository)) return end(404, 'Repository not found.');
  if (service === 'git-receive-pack')
    return end(403, 'The double takes no pushes: code goes by the Git Data API.');
  if (service !== 'git-upload-pack') return end(403, 'Please upgrade your git client.');
  if (!permits(caller, { contents: 'read' })) return end(403, 'Write access to repository not granted.');
  entry.status = await runBackend(repository.dir, action, url.search.slice(1), request, response);
}

export function describeCaller(caller: Caller) {
  const own = caller.kind === 'installation' ? caller : null;
  return {
    kind: caller.kind,
    installationId: own?.installation.id ?? null,
    tokenId: own?.token.id ?? null,
  };
}

/** Runs the CGI program and passes body, headers and status through. Resolves with the status it sent. */
function runBackend(
  dir: string,
  action: string,
  query: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const { headers } = request;
  const optional = (name: string, value: string | string[] | undefined) =>
    typeof value === 'string' ? { [name]: value } : {};
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: dirname(dir),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${basename(dir)}/${action}`,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      REMOTE_USER: 'x-access-token',
      ...optional('CONTENT_TYPE', headers['content-type']),
      ...optional('CONTENT_LENGTH', headers['content-length']),
      ...optional('HTTP_CONTENT_ENCODING', headers['content-encoding']),
      ...optional('GIT_PROTOCOL', headers['git-protocol']),
    },
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  child.stderr.resume();
  response.on('close', () => child.kill());
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    let status = 0;
    child.on('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      if (status !== 0) {
        if (!response.write(chunk)) {
          child.stdout.pause();
          response.once('drain', () => child.stdout.resume());
        }
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      status = 200;
      for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
        const [name = '', value = ''] = line.split(/: (.*)/s);
        if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.writeHead(status);
      response.write(head.subarray(end + 4));
    });
    child.on('close', () => {
      if (status === 0) response.writeHead(500);
      response.end();
      resolve(status === 0 ? 500 : status);
    });
  });
}
