import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseProxyRequest } from '../../../../src/sandbox/egress/request.ts';
import { judgeTarget, parseAuthority } from '../../../../src/sandbox/egress/target.ts';
import { rule } from '../egress-setting.ts';

const head = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
const get = (...headers: string[]) => head('GET http://a.test/x HTTP/1.1', 'Host: a.test', ...headers);
const post = (...headers: string[]) => head('POST http://a.test/x HTTP/1.1', 'Host: a.test', ...headers);

describe('a name', () => {
  it.each([
    ['a.test', 'A.TEST.', 'a.test:443', 'A.test.:443'],
    ['xn--bcher-kva.test', 'XN--BCHER-KVA.test'],
  ])('is read as %s', (host, ...written) => {
    for (const one of written) expect(parseAuthority(one, 443)).toEqual({ host, port: 443 });
  });

  it.each([
    ...['', '.', '..', 'a..test', '-a.test', 'a_b.test', 'a.test..', `${'a'.repeat(64)}.test`],
    ...['user@a.test', 'a.test@b.test', 'a.test%2eb', 'a.test%00', 'bücher.test', 'ａ.test', 'a。test'],
    ...[
      '[::1]',
      '::1',
      '[::ffff:127.0.0.1]:80',
      'a.test:',
      'a.test:0',
      'a.test:080',
      'a.test:65536',
      'a.test:+80',
    ],
    ...['a.test:8 0', 'a.test:80:80', 'a.test\\b.test', 'a.test/..', 'a.test?b', 'a.test#b'],
  ])('is not read from %j', (written) => {
    expect(parseAuthority(written, 80)).toEqual({ refused: expect.any(String) });
  });

  it('is let through by a rule for exactly it and its port, and by nothing else', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
    const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
    const port = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(fc.array(fc.tuple(host, port), { maxLength: 5 }), host, port, (rules, asked, at) => {
        const judged = judgeTarget(
          rules.map(([name, number]) => rule(name, number)),
          { host: asked, port: at },
        );
        const named = rules.some(([name, number]) => name === asked && number === at);
        expect('rule' in judged).toBe(named);
        for (const [name, number] of rules)
          expect(judgeTarget([rule(name, number)], { host: `x.${name}`, port: number })).toHaveProperty(
            'refused',
          );
      }),
    );
  });

  it.each(['127.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '127.1', '10.0.0.0x1'])(
    'that is an address, %s, is refused as one',
    (host) => {
      expect(judgeTarget([rule('a.test', 80)], { host, port: 80 })).toEqual({
        refused: `${host} is an address; only names are reached`,
      });
    },
  );
});

describe('a request', () => {
  it('loses what concerns the connection and keeps the rest, in order', () => {
    const request = get(
      ...['Accept: */*', 'Connection: close, x-own', 'X-Own: 1', 'TE: trailers', 'Proxy-Foo: kept'],
      ...[
        'Proxy-Connection: keep-alive',
        'Upgrade: websocket',
        'X-Empty:',
        'Accept: again',
        'Expect: 100-Continue',
      ],
    );
    expect(parseProxyRequest(request)).toEqual({
      kind: 'forward',
      target: { host: 'a.test', port: 80 },
      method: 'GET',
      path: '/x',
      headers: [
        ...[['Accept', '*/*']],
        ...[
          ['Proxy-Foo', 'kept'],
          ['X-Empty', ''],
        ],
        ...[['Accept', 'again']],
      ],
      bodyBytes: 0,
      http11: true,
      expects: true,
    });
  });

  it.each<[string, Buffer, number]>([
    ['both lengths', post('Content-Length: 5', 'Transfer-Encoding: chunked'), 400],
    ['two lengths', post('Content-Length: 5', 'Content-Length: 5'), 400],
    ['a list of lengths', post('Content-Length: 5, 5'), 400],
    ['a signed length', post('Content-Length: +5'), 400],
    ['a hexadecimal length', post('Content-Length: 0x5'), 400],
    ['a padded length', post('Content-Length: 05'), 400],
    ['chunks', post('Transfer-Encoding: chunked'), 411],
    ['a hidden encoding', post('Transfer-Encoding : chunked'), 400],
    ['an unknown encoding', post('Transfer-Encoding: xchunked'), 411],
    ['a folded header', get('X: 1', ' 2'), 400],
    ['a header that is folded with a tab', get('X: 1', '\tTransfer-Encoding: chunked'), 400],
    ['a header without a colon', get('X'), 400],
    ['a header without a name', get(': x'), 400],
    ['a bare CR', get('X: a\rTransfer-Encoding: chunked'), 400],
    ['a bare LF', get('X: a\nTransfer-Encoding: chunked'), 400],
    ['a NUL', get('X: a\0b'), 400],
    ['what is not ASCII', get('X: \xff'), 400],
    ['too many headers', get(...Array<string>(101).fill('X: 1')), 400],
    ['no Host', head('GET http://a.test/ HTTP/1.1'), 400],
    ['another Host', head('GET http://a.test/ HTTP/1.1', 'Host: b.test'), 403],
    ['another port in Host', head('GET http://a.test/ HTTP/1.1', 'Host: a.test:8080'), 403],
    ['a list of Hosts', head('GET http://a.test/ HTTP/1.1', 'Host: a.test, b.test'), 400],
    ['Host named as of the connection', get('Connection: Host'), 400],
    ['another version', head('GET http://a.test/ HTTP/2.0', 'Host: a.test'), 400],
    ['no version', head('GET http://a.test/', 'Host: a.test'), 400],
    ['two blanks', head('GET  http://a.test/ HTTP/1.1', 'Host: a.test'), 400],
    ['a tab in the target', head('GET http://a.test/\tb HTTP/1.1', 'Host: a.test'), 400],
    ['a method in lower case', head('get http://a.test/ HTTP/1.1', 'Host: a.test'), 400],
    ['a method that is not forwarded', head('TRACE http://a.test/ HTTP/1.1', 'Host: a.test'), 501],
    ['a fragment', head('GET http://a.test/#x HTTP/1.1', 'Host: a.test'), 400],
    ['userinfo', head('GET http://a.test@b.test/ HTTP/1.1', 'Host: b.test'), 400],
    ['a backslash', head('GET http://a.test\\@b.test/ HTTP/1.1', 'Host: a.test'), 400],
    ['another scheme', head('GET ftp://a.test/ HTTP/1.1', 'Host: a.test'), 400],
    ['an asterisk', head('OPTIONS * HTTP/1.1', 'Host: a.test'), 400],
    ['a CONNECT without a port', head('CONNECT a.test HTTP/1.1', 'Host: a.test'), 400],
    ['a CONNECT with a path', head('CONNECT a.test:443/x HTTP/1.1', 'Host: a.test'), 400],
    ['a CONNECT of a URL', head('CONNECT http://a.test:443 HTTP/1.1', 'Host: a.test'), 400],
    ['a CONNECT with a body', head('CONNECT a.test:443 HTTP/1.1', 'Host: a.test', 'Content-Length: 1'), 400],
    ['an expectation nobody knows', get('Expect: more'), 400],
    ['nothing', head(''), 400],
  ])('is refused for %s', (_, bytes, status) => {
    expect(parseProxyRequest(bytes)).toEqual({ refused: expect.any(String), status });
  });

  it('of a tunnel names its path alone, and the host of the tunnel', () => {
    const target = { host: 'a.test', port: 80 };
    const inside = (line: string, host = 'a.test') => parseProxyRequest(head(line, `Host: ${host}`), target);
    expect(inside('GET /x HTTP/1.1')).toMatchObject({ kind: 'forward', target, path: '/x' });
    expect(inside('GET http://a.test/x HTTP/1.1')).toMatchObject({ status: 400 });
    expect(inside('CONNECT b.test:443 HTTP/1.1')).toMatchObject({ status: 400 });
    expect(inside('GET /x HTTP/1.1', 'b.test')).toMatchObject({ status: 403 });
  });

  it('is never anything but a request or a refusal, whatever the bytes', () => {
    const bits = fc.constantFrom(
      ...[
        'GET',
        'CONNECT',
        ' ',
        'http://',
        'a.test',
        ':80',
        ':443',
        '/',
        'HTTP/1.1',
        '\r\n',
        '\n',
        '\r',
        '@',
        '\0',
      ],
      ...[
        'Host: ',
        'Content-Length: ',
        'Transfer-Encoding: chunked',
        '5',
        ': ',
        '\t',
        '[::1]',
        '%',
        '\\',
        '127.0.0.1',
      ],
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 25 }), (parts) => {
        const parsed = parseProxyRequest(Buffer.from(`${parts.join('')}\r\n\r\n`, 'latin1'));
        if ('refused' in parsed) return;
        expect(parsed.target.host).toMatch(/^[a-z0-9.-]+$/);
        if (parsed.kind === 'forward') expect(parsed.path).toMatch(/^\/[\x21-\x7e]*$/);
      }),
    );
  });
});
