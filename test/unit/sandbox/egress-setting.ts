import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { NetworkRule } from '../../../src/config/sandbox-config.ts';
import type { EgressOptions, EgressRecord } from '../../../src/sandbox/egress/egress.ts';
import { createEgressProxy } from '../../../src/sandbox/egress/proxy.ts';

export const rule = (host: string, port: number, isPrivate = true): NetworkRule => ({
  ...{ host, port, private: isPrivate },
});

/** Closes it at the end of the test. */
export function kept<T extends { close(): Promise<void> }>(one: T): T {
  onTestFinished(one.close);
  return one;
}

/** A TCP server on loopback that does that with each connection. */
export async function listener(serve: (socket: Socket) => void) {
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    port,
    connections: () => connections,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** A proxy that a test talks to over TCP, with its records. */
export async function proxyTo(rules: readonly NetworkRule[], options: Partial<EgressOptions> = {}) {
  const records: EgressRecord[] = [];
  const proxy = createEgressProxy('box', rules, {
    audit: async (record) => void records.push(record),
    resolve: async () => ['127.0.0.1'],
    ...options,
  });
  const door = await listener((socket) => proxy.accept(socket));
  /** Sends bytes, optionally ends, and gives all that is answered until the other side ends. */
  async function say(...parts: (string | Buffer)[]): Promise<string> {
    const socket = connect({ port: door.port, host: '127.0.0.1', allowHalfOpen: true });
    let said = '';
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    for (const part of parts) socket.write(part);
    // Bytes that the other side did not want end it by a reset, or by an end, whichever comes first.
    await new Promise<unknown>((resolve) => socket.once('end', resolve).once('close', resolve));
    socket.destroy();
    return said;
  }
  return {
    proxy,
    records,
    port: door.port,
    say,
    async close() {
      await proxy.close();
      await door.close();
    },
  };
}

/** An HTTP server that says what came to it. */
export async function echo(
  reply: (body: string) => { status?: number; headers?: Record<string, string>; body: string } = (body) => ({
    body,
  }),
) {
  const heads: { method: string; url: string; headers: string[] }[] = [];
  const server = createHttpServer((request, response) => {
    heads.push({ method: request.method ?? '', url: request.url ?? '', headers: request.rawHeaders });
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const answer = reply(body);
      response.writeHead(answer.status ?? 200, answer.headers ?? {});
      response.end(answer.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return kept({
    port: address !== null && typeof address === 'object' ? address.port : 0,
    heads,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
