import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channelWindow, createChannels, maxChannelBytes } from '../../../sandbox/channels.ts';

/** Two sides that hear each other a moment later, in order. */
function pair(accept: (channel: Duplex) => void, limit = 64) {
  const sent = { toWorker: 0, toServer: 0 };
  const server = createChannels((frame) => {
    sent.toWorker += frame.length;
    queueMicrotask(() => worker.receive(frame));
  }, null);
  const worker = createChannels(
    (frame) => {
      sent.toServer += frame.length;
      queueMicrotask(() => server.receive(frame));
    },
    { limit, take: accept },
  );
  return { server, worker, sent };
}

const frame = (kind: number, id: number, payload: Buffer = Buffer.alloc(0)) => {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(id, 1);
  return Buffer.concat([head, payload]);
};
const word = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
};

describe('channels', () => {
  it('carry what is written, in both directions, several at once, and then end', async () => {
    const text = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3 * channelWindow }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), async (texts) => {
        const { server } = pair((channel) => void channel.pipe(channel));
        const heard = texts.map(async (parts) => {
          const channel = server.open();
          const all = buffer(channel);
          for (const part of parts) channel.write(Buffer.from(part));
          channel.end();
          return await all;
        });
        const answers = await Promise.all(heard);
        expect(answers.map((answer) => answer.length)).toEqual(
          texts.map((parts) => parts.reduce((sum, part) => sum + part.length, 0)),
        );
        answers.forEach((answer, n) => {
          expect(answer.equals(Buffer.concat((texts[n] ?? []).map((part) => Buffer.from(part))))).toBe(true);
        });
      }),
      { numRuns: 25 },
    );
  });

  it('hold no more than a window for a side that does not read', async () => {
    const taken: Duplex[] = [];
    const { server, sent } = pair((channel) => void taken.push(channel));
    const channel = server.open();
    channel.write(Buffer.alloc(10 * channelWindow));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.toWorker).toBeLessThan(channelWindow + 1000);
    const [other] = taken;
    other?.resume();
    await once(channel, 'drain');
    expect(sent.toWorker).toBeGreaterThan(10 * channelWindow);
  });

  it('put together what comes byte by byte, which would cost a hundred times as much apart', async () => {
    const taken: Duplex[] = [];
    const worker = createChannels(() => {}, { limit: 1, take: (channel) => void taken.push(channel) });
    worker.receive(frame(1, 1));
    const [channel] = taken;
    // One that is looked at, and then not read.
    channel?.once('readable', () => {});
    await new Promise((resolve) => setImmediate(resolve));
    for (let n = 0; n < 50_000; n += 1) worker.receive(frame(2, 1, Buffer.from('x')));
    const sizes: number[] = [];
    channel?.on('data', (piece: Buffer) => sizes.push(piece.length));
    await expect.poll(() => sizes.reduce((sum, size) => sum + size, 0)).toBe(50_000);
    expect(sizes.length).toBeLessThan(10);
  });

  it('end on the other side when they are broken on one', async () => {
    const taken: Duplex[] = [];
    const { server, worker } = pair((channel) => void taken.push(channel));
    const [one, two] = [server.open(), server.open()];
    await new Promise((resolve) => setImmediate(resolve));
    const ended = [once(one, 'close'), ...taken.map((channel) => once(channel, 'close'))];
    taken[0]?.destroy();
    two.destroy();
    await Promise.all(ended);
    worker.close();
  });

  const open = frame(1, 1);
  it.each<[string, Buffer[]]>([
    ['a frame that is too short', [Buffer.alloc(3)]],
    ['a kind nobody knows', [frame(9, 1)]],
    ['a channel opened twice', [open, open]],
    ['a channel of a number that went by', [frame(1, 7), frame(1, 3)]],
    ['more channels than are taken', [open, frame(1, 2), frame(1, 3)]],
    ['an empty piece', [open, frame(2, 1)]],
    ['a piece that is too large', [open, frame(2, 1, Buffer.alloc(maxChannelBytes + 1))]],
    ['more than the window', [open, ...Array<Buffer>(5).fill(frame(2, 1, Buffer.alloc(maxChannelBytes)))]],
    ['more after the end', [open, frame(3, 1), frame(2, 1, Buffer.alloc(1))]],
    ['two ends', [open, frame(3, 1), frame(3, 1)]],
    ['an end with something in it', [open, frame(3, 1, Buffer.alloc(1))]],
    ['a credit of what was not sent', [open, frame(5, 1, word(1))]],
    ['a credit that is too large', [open, frame(5, 1, word(0xffffffff))]],
    ['a credit that is too short', [open, frame(5, 1, Buffer.alloc(3))]],
    ['a credit of nothing', [open, frame(5, 1, word(0))]],
    ['bytes of a channel that was never opened', [open, frame(2, 2, Buffer.alloc(1))]],
    ['the end of a channel that cannot be', [open, frame(4, 0)]],
  ])('are over with %s', (_, frames) => {
    const channels = createChannels(() => {}, { limit: 2, take: () => {} });
    expect(() => {
      for (const one of frames) channels.receive(one);
    }).toThrow();
  });

  it('are opened by one side alone', () => {
    expect(() => createChannels(() => {}, null).receive(open)).toThrow('opens a channel, which it must not');
  });

  it('take late frames of a channel that is over', () => {
    const channels = createChannels(() => {}, { limit: 2, take: (channel) => channel.destroy() });
    for (const one of [open, frame(2, 1, Buffer.alloc(9)), frame(5, 1, word(9)), frame(3, 1), frame(4, 1)])
      channels.receive(one);
  });
});
