import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameDecoder, encodeFrame } from '../../../sandbox/protocol.ts';

/** Cuts bytes at the given places, which may repeat. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const at = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end));
}

describe('frames', () => {
  it('come out as they went in, however the stream is cut', () => {
    const frames = fc.array(fc.record({ id: fc.nat(), result: fc.jsonValue() }), { maxLength: 8 });
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 20 }), (messages, places) => {
        const decode = createFrameDecoder();
        const bytes = Buffer.concat(messages.map((message) => encodeFrame(message)));
        const read = cut(bytes, places).flatMap((chunk) => decode(chunk));
        expect(read).toEqual(JSON.parse(JSON.stringify(messages)));
      }),
    );
  });

  it('are refused above the limit as soon as their length is known', () => {
    const decode = createFrameDecoder(10);
    expect(() => decode(Buffer.from([0, 0, 0, 11]))).toThrow(
      'a frame of 11 bytes is announced, 10 is the limit',
    );
  });

  it('are refused when they are not JSON', () => {
    expect(() => createFrameDecoder()(Buffer.from('\0\0\0\x02no', 'latin1'))).toThrow(SyntaxError);
  });
});
