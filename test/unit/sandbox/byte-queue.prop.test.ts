import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteQueue } from '../../../sandbox/byte-queue.ts';
import { createHeadTail } from '../../../sandbox/head-tail.ts';
import { createFrameDecoder } from '../../../sandbox/protocol.ts';

describe('bytes that wait', () => {
  it('come out as they went in, whenever some are taken', () => {
    const step = fc.oneof(
      fc.record({ add: fc.uint8Array({ maxLength: 300_000 }) }),
      fc.record({ drop: fc.double({ min: 0, max: 1, noNaN: true }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const queue = createByteQueue();
        let model = Buffer.alloc(0);
        for (const one of steps) {
          if ('add' in one) {
            queue.add(one.add);
            model = Buffer.concat([model, one.add]);
          } else {
            const count = Math.floor(one.drop * model.length);
            queue.drop(count);
            model = model.subarray(count);
          }
          expect(queue.length).toBe(model.length);
          expect(queue.view().equals(model)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});

/** Bytes that are held once `take` was given that many single ones, each cut from a piece of its own. */
function heldAfter(count: number, take: (byte: Buffer) => unknown): number {
  const before = memory();
  for (let n = 0; n < count; n += 1000) {
    const piece = Buffer.alloc(1000, 'x');
    for (let at = 0; at < piece.length; at += 1) take(piece.subarray(at, at + 1));
  }
  return memory() - before;
}
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const memory = () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const mib = 1024 * 1024;

describe('what comes byte by byte takes no more than a few times its length', () => {
  it('as a frame', () => {
    const decode = createFrameDecoder();
    decode(Buffer.from([0, 0x20, 0, 0]));
    expect(heldAfter(1_500_000, decode)).toBeLessThan(60 * mib);
  });

  it('as output that is kept', () => {
    const kept = createHeadTail(4 * mib);
    expect(heldAfter(1_500_000, (byte) => kept.push(byte))).toBeLessThan(60 * mib);
    expect(kept.text().length).toBe(1_500_000);
  });
});
