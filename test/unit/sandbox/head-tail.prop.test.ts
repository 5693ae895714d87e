import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeadTail } from '../../../sandbox/head-tail.ts';

describe('head and tail of an output', () => {
  it('are all of it when it fits', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (pieces) => {
        const whole = Buffer.from(pieces.join(''));
        const kept = createHeadTail(whole.length);
        for (const piece of pieces) kept.push(Buffer.from(piece));
        expect({ text: kept.text(), truncated: kept.truncated }).toEqual({
          text: whole.toString('utf8'),
          truncated: false,
        });
      }),
    );
  });

  it('begin and end as the output does, count what is missing and break no character', () => {
    const text = fc.string({ unit: 'binary', minLength: 40, maxLength: 400 });
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 8, max: 39 }),
        fc.integer({ min: 1, max: 50 }),
        (output, limit, size) => {
          const bytes = Buffer.from(output);
          const kept = createHeadTail(limit);
          for (let at = 0; at < bytes.length; at += size) kept.push(bytes.subarray(at, at + size));
          const [, head = '', missing = '', tail = ''] =
            /^([\s\S]*)\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n([\s\S]*)$/.exec(kept.text()) ?? [];
          const whole = bytes.toString('utf8');
          expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(missing)).toBe(bytes.length);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeGreaterThan(limit - 8);
          expect(kept.truncated).toBe(true);
        },
      ),
    );
  });
});
