import { Duplex, PassThrough } from 'node:stream';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBeginning } from '../../../../src/sandbox/egress/hello.ts';

/** The first bytes that node's TLS says to a server of that name. */
async function hello(servername: string): Promise<Buffer> {
  const said = new PassThrough();
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      said.write(chunk);
      done();
    },
  });
  const tls = connect({ socket, servername });
  tls.on('error', () => {});
  const [bytes] = await new Promise<Buffer[]>((resolve) =>
    said.once('data', (chunk: Buffer) => resolve([chunk])),
  );
  tls.destroy();
  return bytes ?? Buffer.alloc(0);
}

/** The same handshake in records of other sizes. */
function recut(bytes: Buffer, sizes: readonly number[]): Buffer {
  const body = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0, n = 0; at < body.length; n += 1) {
    const part = body.subarray(at, at + (sizes[n % sizes.length] ?? 1));
    const head = Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]);
    records.push(head, part);
    at += part.length;
  }
  return Buffer.concat(records);
}

/** A hello with these extensions and nothing else of interest. */
function made(...extensions: [type: number, body: Buffer][]): Buffer {
  const two = (n: number) => Buffer.from([n >> 8, n & 255]);
  const block = Buffer.concat(extensions.flatMap(([type, body]) => [two(type), two(body.length), body]));
  const body = Buffer.concat([
    ...[two(0x0303), Buffer.alloc(32), Buffer.from([0]), two(2), two(0x1301), Buffer.from([1, 0])],
    ...[two(block.length), block],
  ]);
  const handshake = Buffer.concat([Buffer.from([1, 0]), two(body.length), body]);
  return Buffer.concat([Buffer.from([22, 3, 1]), two(handshake.length), handshake]);
}
const named = (...names: string[]): [number, Buffer] => {
  const list = Buffer.concat(
    names.map((name) =>
      Buffer.concat([Buffer.from([0, name.length >> 8, name.length & 255]), Buffer.from(name)]),
    ),
  );
  return [0, Buffer.concat([Buffer.from([list.length >> 8, list.length & 255]), list])];
};

describe('the beginning of a tunnel', () => {
  it('tells the name of a real client hello once it is whole, however it is cut', async () => {
    const bytes = await hello('registry.test');
    expect(readBeginning(bytes)).toEqual({ kind: 'tls', name: 'registry.test' });
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(sizes, fc.nat(), (cuts, end) => {
        const all = recut(bytes, cuts);
        expect(readBeginning(all)).toEqual({ kind: 'tls', name: 'registry.test' });
        expect(readBeginning(all.subarray(0, end % all.length))).toEqual({ kind: 'more' });
      }),
    );
  });

  it.each<[string, Buffer, object]>([
    ['no name', made([16, Buffer.alloc(3)]), { kind: 'tls', name: null }],
    ['a name in capitals', made(named('A.test')), { kind: 'tls', name: 'a.test' }],
    [
      'two names',
      made(named('a.test', 'b.test')),
      { kind: 'bad', reason: expect.stringContaining('several') },
    ],
    [
      'a name twice',
      made(named('a.test'), named('b.test')),
      { kind: 'bad', reason: expect.stringContaining('several') },
    ],
    [
      'an encrypted hello',
      made(named('a.test'), [0xfe0d, Buffer.alloc(9)]),
      { kind: 'bad', reason: expect.stringContaining('hides') },
    ],
    [
      'an extension that is cut',
      made([0, Buffer.from([0, 9, 0])]),
      { kind: 'bad', reason: expect.stringContaining('malformed') },
    ],
    [
      'another handshake',
      Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]),
      { kind: 'bad', reason: expect.any(String) },
    ],
    ['an alert', Buffer.from([21, 3, 1, 0, 2, 1, 0]), { kind: 'bad', reason: expect.any(String) }],
    ['SSH', Buffer.from('SSH-2.0-x\r\n'), { kind: 'plain' }],
    ['bytes', Buffer.from([0, 1, 2]), { kind: 'bad', reason: expect.any(String) }],
    ['HTTP', Buffer.from('GET / HTTP/1.1'), { kind: 'plain' }],
  ])('is %s', (_, bytes, expected) => {
    expect(readBeginning(bytes)).toEqual(expected);
  });

  it('is read from any bytes without an error, and gives no name that is not there', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (rest) => {
        const read = readBeginning(Buffer.concat([Buffer.from([22, 3, 1]), rest]));
        expect(['more', 'tls', 'bad']).toContain(read.kind);
      }),
    );
  });
});
