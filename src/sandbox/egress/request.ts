import type { Refusal, Target } from './egress.ts';
import { parseAuthority } from './target.ts';

/** The head of a request that a sandbox sent, taken apart by one grammar that leaves nothing to interpretation. */

/** Bytes of a head, the empty line with it; and its lines. */
export const maxHeadBytes = 16 * 1024;
const maxHeaders = 100;

export type ProxyRequest =
  | { readonly kind: 'tunnel'; readonly target: Target }
  | {
      readonly kind: 'forward';
      readonly target: Target;
      readonly method: string;
      /** Begins with `/`. */
      readonly path: string;
      /** Without those that concern the connection, without `Host`, names as they came. */
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly bodyBytes: number;
      readonly http11: boolean;
      /** The client waits for a word before it sends the body. */
      readonly expects: boolean;
    };

/** `status` is that of the answer. `target`: what was asked for, where that could be read. */
export interface BadRequest extends Refusal {
  readonly status: 400 | 403 | 411 | 501;
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Of the connection (RFC 9110, 7.6.1), or answered here. */
const hopByHop = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...[
    'proxy-authorization',
    'proxy-authenticate',
    'proxy-authentication-info',
    'host',
    'expect',
    'content-length',
  ],
]);
/** What must reach the other side, whatever `Connection` says of it. */
const endToEnd = new Set(['host', 'content-length', 'transfer-encoding', 'authorization', 'cookie', 'range']);

const bad = (refused: string, status: BadRequest['status'] = 400): BadRequest => ({ refused, status });

/**
 * Parses a head, from the request line to the empty line. `inside`: of a tunnel to that target, where a
 * request names its path alone.
 */
export function parseProxyRequest(head: Buffer, inside: Target | null = null): ProxyRequest | BadRequest {
  const text = head.toString('latin1');
  if (!text.endsWith('\r\n\r\n')) return bad('the lines of the head must end in CR LF');
  const lines = text.slice(0, -4).split('\r\n');
  // Bare CR and LF among them, and NUL.
  if (lines.some((line) => !/^[\t\x20-\x7e]*$/.test(line)))
    return bad('the head of the request holds a character it must not');
  const [requestLine = '', ...headerLines] = lines;
  const [, method = '', asked = '', minor] = /^([A-Z]+) ([^ \t]+) HTTP\/1\.([01])$/.exec(requestLine) ?? [];
  if (minor === undefined) return bad('not a request line of HTTP/1.1');
  const headers = parseHeaders(headerLines);
  if (!Array.isArray(headers)) return headers;
  const values = (name: string) =>
    headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);

  const read = method === 'CONNECT' ? readTunnel(asked, inside) : readForward(asked, method, inside);
  if ('refused' in read) return read;
  const { target } = read;
  const hosts = values('host');
  if (hosts.length > 1) return bad('more than one Host');
  if (hosts.length === 0 && minor === '1') return bad('Host is missing');
  const [written] = hosts;
  if (written !== undefined) {
    const host = parseAuthority(written, method === 'CONNECT' ? target.port : 80);
    if ('refused' in host) return bad(`Host: ${host.refused}`);
    if (host.host !== target.host || host.port !== target.port)
      return bad('Host names another place than the request', 403);
  }

  const lengths = values('content-length');
  const encodings = values('transfer-encoding');
  if (lengths.length + encodings.length > 1) return bad('more than one length of the body');
  if (encodings.length > 0) return bad('a body is taken with its Content-Length, not in chunks', 411);
  const [length = '0'] = lengths;
  if (!/^(0|[1-9][0-9]{0,14})$/.test(length)) return bad('not a Content-Length');
  if (read.path === null) return length === '0' ? { kind: 'tunnel', target } : bad('a CONNECT has no body');

  const expectations = values('expect');
  if (expectations.some((value) => value.toLowerCase() !== '100-continue'))
    return bad('not an expectation known');
  const named = new Set(
    values('connection').flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())),
  );
  for (const name of endToEnd) if (named.has(name)) return bad(`Connection must not name ${name}`);
  return {
    kind: 'forward',
    ...{ target, method, path: read.path },
    headers: headers.filter(([name]) => !hopByHop.has(name.toLowerCase()) && !named.has(name.toLowerCase())),
    ...{
      bodyBytes: Number(length),
      http11: minor === '1',
      expects: expectations.length > 0 && minor === '1',
    },
  };
}

function readTunnel(asked: string, inside: Target | null): { target: Target; path: null } | BadRequest {
  if (inside !== null) return bad('a CONNECT within a tunnel');
  const target = parseAuthority(asked, null);
  return 'refused' in target ? bad(target.refused) : { target, path: null };
}

function readForward(
  asked: string,
  method: string,
  inside: Target | null,
): { target: Target; path: string } | BadRequest {
  if (!methods.has(method)) return bad(`the method ${method.slice(0, 20)} is not forwarded`, 501);
  if (asked.includes('#')) return bad('a fragment is not part of a request');
  if (inside !== null) {
    return asked.startsWith('/')
      ? { target: inside, path: asked }
      : bad('not a path, as it must be in a tunnel');
  }
  if (/^https:/i.test(asked)) return bad('https goes by CONNECT');
  const [, authority, rest = ''] = /^http:\/\/([^/?]*)(.*)$/i.exec(asked) ?? [];
  if (authority === undefined) return bad('this is a proxy: it takes CONNECT, or http:// with a host');
  const target = parseAuthority(authority, 80);
  if ('refused' in target) return bad(target.refused);
  return { target, path: rest.startsWith('/') ? rest : `/${rest}` };
}

function parseHeaders(lines: readonly string[]): [name: string, value: string][] | BadRequest {
  if (lines.length > maxHeaders) return bad('too many headers');
  const headers: [string, string][] = [];
  for (const line of lines) {
    // A line that begins with white space would go on the one before it.
    const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) return bad('not a header line');
    headers.push([name, value]);
  }
  return headers;
}
