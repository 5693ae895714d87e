import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answer } from './answer.ts';
import { createMeters } from './pass.ts';
import type { Passage } from './proxy.ts';
import type { ProxyRequest } from './request.ts';

type Forward = Extract<ProxyRequest, { kind: 'forward' }>;

/** Of an answer, those that concern the connection: ours to the client is another. */
const hopByHop = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authentication-info'],
]);
const maxAnswerHeadBytes = 64 * 1024;

/**
 * Sends one request on, written anew, over a connection made for it, and gives its answer. The connection to the
 * client ends with it: what may follow the body is never looked at.
 */
export async function forward(passage: Passage, request: Forward, upstream: Socket): Promise<void> {
  const { client } = passage;
  const meters = createMeters(passage, request.target);
  const signal = AbortSignal.any([passage.signal, meters.idle]);
  const outgoing = httpRequest({
    createConnection: () => upstream,
    method: request.method,
    path: request.path,
    headers: headersOf(request).flat(),
    insecureHTTPParser: false,
    maxHeaderSize: maxAnswerHeadBytes,
    signal,
  });
  try {
    const response = Promise.withResolvers<IncomingMessage>();
    outgoing.once('response', response.resolve);
    outgoing.on('error', response.reject);
    outgoing.once('upgrade', () => response.reject(new Error('the answer changes the protocol')));
    response.promise.catch(() => {});
    if (request.expects) client.write('HTTP/1.1 100 Continue\r\n\r\n');
    const sent = pipeline(Readable.from(body(client, request.bodyBytes)), meters.meter('sent'), outgoing, {
      signal,
    });
    // An answer may come before the body is through, and then counts.
    sent.catch(() => {});
    const incoming = await response.promise.catch(() => null);
    signal.throwIfAborted();
    if (incoming === null)
      return answer(client, 502, `${request.target.host} gave no answer that could be read`);
    const received = meters.meter('received');
    const { head, framing } = answerHead(incoming, request);
    client.write(head, 'latin1');
    if (framing === 'none') client.end();
    else if (framing === 'chunked') await pipeline(incoming, received, chunker(), client, { signal });
    else await pipeline(incoming, received, client, { signal });
  } finally {
    meters.stop();
    outgoing.destroy();
  }
}

function headersOf({ target, headers, bodyBytes, method }: Forward): [string, string][] {
  const { host, port } = target;
  const length: [string, string][] =
    bodyBytes > 0 || ['POST', 'PUT', 'PATCH'].includes(method) ? [['Content-Length', String(bodyBytes)]] : [];
  return [
    ['Host', port === 80 ? host : `${host}:${port}`],
    ...headers.map(([name, value]): [string, string] => [name, value]),
    ...length,
    ['Connection', 'close'],
  ];
}

/** As many bytes as were announced; what comes behind them stays unread. */
async function* body(client: Duplex, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  if (left === 0) return;
  for await (const chunk of client.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const part = chunk.subarray(0, left);
    left -= part.length;
    yield part;
    if (left === 0) return;
  }
  throw new Error('the body ended early');
}

function answerHead(
  incoming: IncomingMessage,
  { method, http11 }: Forward,
): { head: string; framing: 'none' | 'length' | 'chunked' | 'end' } {
  const status = incoming.statusCode ?? 502;
  const headers: string[] = [];
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    const name = incoming.rawHeaders[at] ?? '';
    if (!hopByHop.has(name.toLowerCase())) headers.push(`${name}: ${incoming.rawHeaders[at + 1] ?? ''}`);
  }
  const bodiless = method === 'HEAD' || status === 204 || status === 304;
  const hasLength = incoming.headers['content-length'] !== undefined;
  const framing = bodiless ? 'none' : hasLength ? 'length' : http11 ? 'chunked' : 'end';
  if (framing === 'chunked') headers.push('Transfer-Encoding: chunked');
  const lines = [`HTTP/1.1 ${status} ${incoming.statusMessage ?? ''}`, ...headers, 'Connection: close'];
  return { head: `${lines.join('\r\n')}\r\n\r\n`, framing };
}

/** In chunks, so that an answer cut short is seen to be cut short. */
function chunker(): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      this.push(`${chunk.length.toString(16)}\r\n`);
      this.push(chunk);
      done(null, '\r\n');
    },
    flush(done) {
      done(null, '0\r\n\r\n');
    },
  });
}
