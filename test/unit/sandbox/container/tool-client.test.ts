import { type Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  createFrameDecoder,
  encodeChannelFrame,
  encodeFrame,
  protocolVersion,
  type RequestFrame,
  type ResponseFrame,
} from '../../../../sandbox/protocol.ts';
import { PatchfleetError } from '../../../../src/domain/failure.ts';
import { createToolClient } from '../../../../src/sandbox/container/tool-client.ts';

const never = new AbortController().signal;
const list = { op: 'list', path: '', limit: 10 } as const;
/** The limit of a call that is not about it, ms. */
const inTime = 100_000;

/** A client and the server's end of its streams. */
function conversation({
  hello = true,
  accept = null as ((channel: Duplex) => void) | null,
  reads = true,
} = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const client = createToolClient(
    input,
    output as AsyncIterable<Buffer>,
    async (what) => new PatchfleetError('sandbox_died', what),
    accept,
  );
  const decode = createFrameDecoder();
  const received: RequestFrame[] = [];
  if (reads) input.on('data', (chunk: Buffer) => received.push(...(decode(chunk) as RequestFrame[])));
  const say = (frame: ResponseFrame) => output.write(encodeFrame(frame));
  if (hello) say({ hello: { protocol: protocolVersion, egress: accept === null ? null : 'stream' } });
  return { client, output, received, say };
}

describe('the conversation with a tool server', () => {
  it('matches answers to requests by id, in any order', async () => {
    const { client, say } = conversation();
    await client.ready;
    const one = client.call(list, never, inTime);
    const two = client.call(list, never, inTime);
    say({ id: 2, result: [{ name: 'b', type: 'file', bytes: 1 }] });
    say({ id: 1, result: [] });
    expect(await Promise.all([one, two])).toEqual([[], [{ name: 'b', type: 'file', bytes: 1 }]]);
  });

  it('gives what the server refuses as a ToolError with its text', async () => {
    const { client, say } = conversation();
    const call = client.call(list, never, inTime);
    say({ id: 1, error: 'x: no such file or directory' });
    await expect(call).rejects.toMatchObject({ name: 'ToolError', message: 'x: no such file or directory' });
  });

  it('cuts what the server says of a very long path, and talks on', async () => {
    const { client, say } = conversation();
    const refused = client.call({ ...list, path: 'x'.repeat(50_000) }, never, inTime);
    say({ id: 1, error: `${'x'.repeat(50_000)}: the path is too long` });
    await expect(refused).rejects.toMatchObject({ name: 'ToolError', message: `${'x'.repeat(10_000)}…` });
    const next = client.call(list, never, inTime);
    say({ id: 2, result: [] });
    expect(await next).toEqual([]);
  });

  it('mends half a character, as the cut of a line leaves it', async () => {
    const { client, say } = conversation();
    const call = client.call({ op: 'search', pattern: 'x', path: '', limit: 1 }, never, inTime);
    const text = `x${'\u{1F600}'}`.slice(0, 2);
    say({ id: 1, result: { matches: [{ path: 'a.txt', line: 1, text }], truncated: false } });
    expect(await call).toEqual({ matches: [{ path: 'a.txt', line: 1, text: 'x\uFFFD' }], truncated: false });
  });

  it('tells the server of a cancel and rejects with the reason of the signal', async () => {
    const { client, received } = conversation();
    await client.ready;
    const abort = new AbortController();
    const call = client.call(list, abort.signal, inTime);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect.poll(() => received).toEqual([{ id: 1, request: list }, { cancel: 1 }]);
  });

  it('takes the answer to what was cancelled, once', async () => {
    const { client, say } = conversation();
    await client.ready;
    const abort = new AbortController();
    const cancelled = client.call(list, abort.signal, inTime);
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    say({ id: 1, error: 'cancelled' });
    const next = client.call(list, never, inTime);
    say({ id: 2, result: [] });
    expect(await next).toEqual([]);
    say({ id: 1, error: 'cancelled' });
    expect(await client.over).toMatchObject({
      detail: expect.stringContaining('answers what was not asked'),
    });
  });

  it.each([
    ['what was never asked', 77],
    ['twice', 1],
  ])('is over when the server answers %s, and listens no more', async (_, id) => {
    const { client, output, say } = conversation();
    await client.ready;
    const call = client.call(list, never, inTime);
    say({ id: 1, result: [] });
    await call;
    say({ id, result: [] });
    expect(await client.over).toMatchObject({
      detail: expect.stringContaining('answers what was not asked'),
    });
    expect(output.destroyed).toBe(true);
  });

  it('listens no more once it is over for another reason', async () => {
    const { client, output, say } = conversation();
    await client.ready;
    client.end(new Error('over'));
    say({ id: 1, result: [] });
    await expect.poll(() => output.destroyed).toBe(true);
  });

  it.each([
    ['list', list, (items: number[]) => items],
    [
      'search',
      { op: 'search', pattern: 'x', path: '', limit: 10 } as const,
      (items: number[]) => ({ matches: items, truncated: false }),
    ],
  ])('does not look into more items of a %s than can have been asked for', async (_, request, answer) => {
    const { client, say } = conversation();
    await client.ready;
    const call = client.call(request, never, inTime);
    const before = process.memoryUsage().heapUsed;
    // Each would be an issue of some hundred bytes.
    say({ id: 1, result: answer(Array<number>(2_000_000).fill(0)) });
    await expect(call).rejects.toMatchObject({ detail: expect.stringContaining('wrong shape') });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024);
  });

  it.each<[string, (talk: ReturnType<typeof conversation>) => void, string]>([
    ['does not answer', () => {}, 'no answer to `list` within 60 ms'],
    ['answers in the wrong shape', ({ say }) => say({ id: 1, result: [{ name: 1 }] }), 'wrong shape'],
    ['ends', ({ output }) => output.end(), 'its output ended'],
    ['sends a frame that is too large', ({ output }) => output.write(Buffer.alloc(4, 0xff)), 'is the limit'],
    ['sends what is not JSON', ({ output }) => output.write('\0\0\0\x01{'), 'cannot be read on'],
    [
      'sends JSON that is no response',
      ({ say }) => say({ hello: { protocol: protocolVersion, egress: null } }),
      'cannot be read on',
    ],
  ])('fails as sandbox_died when the server %s', async (_, act, text) => {
    const talk = conversation();
    await talk.client.ready;
    const call = talk.client.call(list, never, text.endsWith('within 60 ms') ? 60 : inTime);
    act(talk);
    await expect(call).rejects.toMatchObject({ code: 'sandbox_died', detail: expect.stringContaining(text) });
  });

  it('gives on what a channel brings, and frames of requests in between', async () => {
    const heard: string[] = [];
    const { client, output, received, say } = conversation({
      accept: (channel) => {
        channel.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
        channel.write('and back');
      },
    });
    await client.ready;
    expect(client.egress()).toBe('stream');
    const call = client.call(list, never, inTime);
    output.write(encodeChannelFrame(Buffer.from([1, 0, 0, 0, 1])));
    say({ id: 1, result: [] });
    output.write(encodeChannelFrame(Buffer.from([2, 0, 0, 0, 1, 104, 105])));
    expect(await call).toEqual([]);
    await expect.poll(() => heard).toEqual(['hi']);
    expect(received.filter((frame) => Buffer.isBuffer(frame))).toEqual([
      Buffer.from('\x02\0\0\0\x01and back'),
    ]);
  });

  it.each<[string, Buffer, ((channel: Duplex) => void) | null, string]>([
    ['opens a channel unasked', Buffer.from([1, 0, 0, 0, 1]), null, 'it speaks of channels, and has none'],
    ['sends a frame of no channel', Buffer.from([1]), () => {}, 'a channel frame is too short'],
    ['sends too large a piece', Buffer.alloc(40_000, 2), () => {}, 'is the limit'],
  ])('is over when the server %s', async (_, body, accept, text) => {
    const { client, output } = conversation({ accept });
    await client.ready;
    const call = client.call(list, never, inTime);
    output.write(encodeChannelFrame(body));
    await expect(call).rejects.toMatchObject({ code: 'sandbox_died', detail: expect.stringContaining(text) });
  });

  it('is over when the server has answers made for it that it does not read', async () => {
    const { client, output } = conversation({
      accept: (channel) => void channel.write(Buffer.alloc(128 * 1024)),
      reads: false,
    });
    await client.ready;
    const call = client.call(list, never, inTime);
    call.catch(() => {});
    for (let id = 1; id <= 600; id += 1) {
      const head = Buffer.alloc(5);
      for (const kind of [1, 4]) {
        head.writeUInt8(kind, 0);
        head.writeUInt32BE(id, 1);
        output.write(encodeChannelFrame(Buffer.from(head)));
      }
    }
    await expect(call).rejects.toMatchObject({
      ...{ code: 'sandbox_died', detail: 'the tool server does not read what it is sent' },
    });
  });

  it('is never ready with a server that offers no way out where one is wanted', async () => {
    const { client, say } = conversation({ hello: false, accept: () => {} });
    say({ hello: { protocol: protocolVersion, egress: null } });
    await expect(client.ready).rejects.toThrow('the tool server offers no way out');
  });

  it('is never ready with a server of another version', async () => {
    const { client, say } = conversation({ hello: false });
    say({ hello: { protocol: protocolVersion + 1, egress: null } });
    await expect(client.ready).rejects.toThrow(
      `speaks version ${protocolVersion + 1}, not ${protocolVersion}`,
    );
  });

  it('rejects calls after its end with the reason of its end', async () => {
    const { client } = conversation();
    await client.ready;
    client.end(new Error('over'));
    await expect(client.call(list, never, inTime)).rejects.toThrow('over');
  });
});
