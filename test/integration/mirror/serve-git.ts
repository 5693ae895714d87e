import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** GitHub's git side over real HTTP: `git http-backend` behind a server that looks at the credential. */
export interface GitServer {
  readonly url: string;
  readonly requests: { readonly url: string; readonly authorization: string }[];
  /** `status`: answer that to everything, with `location`. `hang`: never answer. */
  mode: 'serve' | 'hang' | { readonly status: number; readonly location?: string };
  close(): Promise<void>;
}

export async function serveGit(root: string, token: string): Promise<GitServer> {
  const expected = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
  const requests: GitServer['requests'] = [];
  const server = createServer((request, response) => {
    const authorization = request.headers.authorization ?? '';
    requests.push({ url: request.url ?? '', authorization });
    if (state.mode === 'hang') return;
    if (state.mode !== 'serve') {
      const { status, location } = state.mode;
      response.writeHead(status, location === undefined ? {} : { location }).end('refused');
    } else if (authorization !== expected) response.writeHead(401).end();
    else backend(root, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: GitServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    mode: 'serve',
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return state;
}

function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://local');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  let head = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const fields = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': '));
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200';
    response.writeHead(
      Number.parseInt(status, 10),
      Object.fromEntries(
        fields.filter(([name]) => name !== 'Status').map(([name = '', value = '']) => [name, value]),
      ),
    );
    response.write(head.subarray(end + 4));
  });
  child.stdout.on('end', () => response.end());
}
