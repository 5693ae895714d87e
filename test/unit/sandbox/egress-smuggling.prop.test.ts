import fc from 'fast-check';
import { expect, it } from 'vitest';
import { echo, kept, proxyTo, rule } from './egress-setting.ts';

/** Whether a request is of that run, or says of none. */
function isOf(headers: readonly string[], run: number): boolean {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-run');
  return at < 0 || headers[at + 1] === String(run);
}

it('whatever is said on a connection, one request at most comes out of it, for the host that is allowed', async () => {
  const server = await echo();
  const place = `a.test:${server.port}`;
  const limits = { headMs: 40, idleMs: 200 };
  const { say } = kept(await proxyTo([rule('a.test', server.port)], { limits }));
  const other = `GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n`;
  const own = `GET http://${place}/second HTTP/1.1\r\nHost: ${place}\r\n\r\n`;
  const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', ' \r\n');
  const line = fc.constantFrom(
    ...[
      'Content-Length: 4',
      'Content-Length: 0',
      'Content-Length:4',
      'Content-Length : 9',
      'content-length: 1e1',
    ],
    ...[
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: identity',
      'Transfer-Encoding:\tchunked',
      ' chunked',
    ],
    ...[
      'Connection: Content-Length',
      'Connection: keep-alive',
      'Host: b.test',
      `Host: ${place}`,
      'X: 1',
      'Upgrade: h2c',
    ],
  );
  const start = fc.constantFrom(
    ...[`POST http://${place}/ HTTP/1.1`, `GET http://${place}/ HTTP/1.1`, `CONNECT ${place} HTTP/1.1`],
    ...[`POST http://${place}/ HTTP/1.0`, 'POST http://b.test/ HTTP/1.1', `POST //${place}/ HTTP/1.1`],
  );
  const body = fc.constantFrom(
    '',
    'body',
    `0\r\n\r\n${other}`,
    other,
    own,
    `GET /in HTTP/1.1\r\nX-Run: RUN\r\nHost: ${place}\r\n\r\n`,
  );
  const headers = fc.array(fc.tuple(line, end), { maxLength: 4 });
  const whole = fc.tuple(start, headers, fc.constantFrom('\r\n', '\r\n', '\n'), body, body);
  let reached = 0;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(whole, fc.boolean(), async ([first, lines, last, one, two], atOnce) => {
      runs += 1;
      const all = lines.map((parts) => parts.join('')).join('');
      const named = `${first}\r\nX-Run: RUN\r\nHost: ${place}\r\n${all}${last}`;
      const parts = atOnce ? [named + one + two] : [named, one, two];
      await say(...parts.map((part) => part.replaceAll('RUN', String(runs))));
      // What one before it has said may come late, where the proxy gave it up meanwhile.
      const heads = server.heads.filter(({ headers: came }) => isOf(came, runs));
      reached += heads.length;
      expect(heads.length).toBeLessThanOrEqual(1);
      for (const { url, headers: came } of heads) {
        expect(url).toMatch(/^\/(in)?$/);
        const hosts = came.filter((_, at) => at % 2 === 1 && came[at - 1]?.toLowerCase() === 'host');
        expect(hosts).toEqual([place]);
        expect(came.map((name) => name.toLowerCase())).not.toContain('transfer-encoding');
      }
    }),
    { numRuns: 150 },
  );
  expect(reached).toBeGreaterThan(0);
});
