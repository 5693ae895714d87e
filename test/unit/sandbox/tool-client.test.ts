import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  createFrameDecoder,
  encodeFrame,
  protocolVersion,
  type RequestFrame,
  type ResponseFrame,
} from '../../../sandbox/protocol.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { createToolClient } from '../../../src/sandbox/tool-client.ts';

const never = new AbortController().signal;
const list = { op: 'list', path: '', limit: 10 } as const;

/** A client and the server's end of its streams. */
function conversation({ hello = true } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const client = createToolClient(
    input,
    output as AsyncIterable<Buffer>,
    async (what) => new PatchfleetError('sandbox_died', what),
  );
  const decode = createFrameDecoder();
  const received: RequestFrame[] = [];
  input.on('data', (chunk: Buffer) => received.push(...(decode(chunk) as RequestFrame[])));
  const say = (frame: ResponseFrame) => output.write(encodeFrame(frame));
  if (hello) say({ hello: { protocol: protocolVersion, egress: null } });
  return { client, output, received, say };
}

describe('the conversation with a tool server', () => {
  it('matches answers to requests by id, in any order, and ignores ids it does not know', async () => {
    const { client, say } = conversation();
    await client.ready;
    const one = client.call(list, never, 1000);
    const two = client.call(list, never, 1000);
    say({ id: 77, result: [] });
    say({ id: 2, result: [{ name: 'b', type: 'file', bytes: 1 }] });
    say({ id: 1, result: [] });
    expect(await Promise.all([one, two])).toEqual([[], [{ name: 'b', type: 'file', bytes: 1 }]]);
  });

  it('gives what the server refuses as a ToolError with its text', async () => {
    const { client, say } = conversation();
    const call = client.call(list, never, 1000);
    say({ id: 1, error: 'x: no such file or directory' });
    await expect(call).rejects.toMatchObject({ name: 'ToolError', message: 'x: no such file or directory' });
  });

  it('cuts what the server says of a very long path, and talks on', async () => {
    const { client, say } = conversation();
    const refused = client.call({ ...list, path: 'x'.repeat(50_000) }, never, 1000);
    say({ id: 1, error: `${'x'.repeat(50_000)}: the path is too long` });
    await expect(refused).rejects.toMatchObject({ name: 'ToolError', message: `${'x'.repeat(10_000)}…` });
    const next = client.call(list, never, 1000);
    say({ id: 2, result: [] });
    expect(await next).toEqual([]);
  });

  it('tells the server of a cancel and rejects with the reason of the signal', async () => {
    const { client, received } = conversation();
    await client.ready;
    const abort = new AbortController();
    const call = client.call(list, abort.signal, 1000);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect.poll(() => received).toEqual([{ id: 1, request: list }, { cancel: 1 }]);
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
    const call = talk.client.call(list, never, 60);
    act(talk);
    await expect(call).rejects.toMatchObject({ code: 'sandbox_died', detail: expect.stringContaining(text) });
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
    await expect(client.call(list, never, 1000)).rejects.toThrow('over');
  });
});
