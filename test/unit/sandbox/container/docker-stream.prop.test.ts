import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDockerStream } from '../../../../src/sandbox/container/docker-stream.ts';

function framed(stream: 1 | 2, data: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(data.length, 4);
  return Buffer.concat([header, data]);
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('the reader of the multiplexed stream', () => {
  it('gives each stream its bytes in order, however they are cut', async () => {
    const parts = fc.array(
      fc.tuple(fc.constantFrom(1 as const, 2 as const), fc.uint8Array({ maxLength: 40 })),
    );
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 60 }), async (sent, size) => {
        const seen = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
        const bytes = Buffer.concat(sent.map(([stream, data]) => framed(stream, data)));
        for await (const { stream, data } of readDockerStream(chunksOf(bytes, size))) seen[stream].push(data);
        const all = (which: number) =>
          Buffer.concat(sent.filter(([stream]) => stream === which).map(([, data]) => data)).toString('hex');
        expect({
          stdout: Buffer.concat(seen.stdout).toString('hex'),
          stderr: Buffer.concat(seen.stderr).toString('hex'),
        }).toEqual({ stdout: all(1), stderr: all(2) });
      }),
    );
  });

  it('says so when the stream ends before what it announced', async () => {
    const whole = framed(1, Buffer.from('all of it'));
    for (const bytes of [whole.subarray(0, -1), whole.subarray(0, 5)]) {
      const read = (async () => {
        for await (const _ of readDockerStream(chunksOf(bytes, 4)));
      })();
      await expect(read).rejects.toThrow('cut short');
    }
  });

  it('stops at a header of no known stream', async () => {
    const read = readDockerStream(chunksOf(Buffer.from('HTTP/1.1'), 8));
    await expect(read.next()).rejects.toThrow('not a Docker stream header');
  });
});
